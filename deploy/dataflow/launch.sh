#!/bin/sh
# What the launcher of the Flex Template starts. The launcher knows flags, and no commands.
exec /template/runjob run "$@"
