"""(ε,δ)-LDP on small alphabets: the exact program over the rays of the arrangement."""
