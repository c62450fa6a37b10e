"""Watches for copies of our sites every night, as watch.service does, in Airflow 3.

Copy it to the folder of DAGs of an Airflow whose workers have runjob, jq, mail, watch-mail and watch-alerts, and a disk that stays:
/srv/runjob. Archives and state are in a bucket. docs/how-to/phishing-watch.md explains the command.
"""

import pendulum
from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import dag

# 10 says that there are new suspects, 0 that there are none. All else is a failure.
WATCH = """
code=0
runjob mirrors --input gs://example-watch/ours.warc.gz --input gs://example-watch/suspicious.warc.gz \
    --protected /etc/runjob/our-sites.txt --allow /etc/runjob/partners.txt --mirror-pages 1 \
    --state gs://example-watch/state --temp /srv/runjob/temp --output /srv/runjob/watch --overwrite \
    --fail-on new-suspects,protected-changed || code=$?
case $code in 0|10) ;; *) exit $code ;; esac
"""

# Sends a mail if there are new suspects. What it has sent is acknowledged; otherwise the next run tells of it again.
ALERT = "watch-mail /srv/runjob/watch gs://example-watch/state security@example.org"


# Only one run at a time may have the state, and what was missed need not be made up for: a run looks at what is there now.
@dag(schedule="30 3 * * *", start_date=pendulum.datetime(2026, 1, 1), catchup=False, max_active_runs=1)
def watch():
    # A run that died leaves the state as it was, so it may be tried again. A lease in a bucket ends after a minute.
    look = BashOperator(task_id="look", bash_command=WATCH, retries=2, retry_delay=pendulum.duration(minutes=5))
    alert = BashOperator(task_id="alert", bash_command=ALERT, retries=2, retry_delay=pendulum.duration(minutes=5))
    look >> alert


watch()
