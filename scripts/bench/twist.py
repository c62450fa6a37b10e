"""Prints the names that dnstwist makes for 20 brands: brand, kind and name, separated by tabs.

    pip install dnstwist==20250130
    python scripts/bench/twist.py > twist.tsv
    cut -f1 twist.tsv | sort -u > brands.txt
    cut -f3 twist.tsv | runjob names --protected brands.txt --input - --output found.jsonl

The last command prints how many of the names look like protected ones: 50,581 of 50,814.
"""

import dnstwist

BRANDS = """ing.com dhl.com ups.com n26.com bbc.co.uk visa.com ebay.com ikea.com apple.com chase.com paypal.com amazon.com
google.com revolut.com netflix.com facebook.com microsoft.com santander.com wellsfargo.com bankofamerica.com""".split()
WORDS = "login secure account support verify online help update service auth".split()
SUFFIXES = "net org co info top xyz online de shop cm".split()

for brand in BRANDS:
    fuzzer = dnstwist.Fuzzer(brand, dictionary=WORDS, tld_dictionary=SUFFIXES)
    fuzzer.generate()
    for name in sorted(fuzzer.domains, key=lambda made: made["domain"]):
        if name["fuzzer"] != "*original":
            print(brand, name["fuzzer"], name["domain"], sep="\t")
