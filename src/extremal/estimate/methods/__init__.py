"""From frequencies of reports to frequencies of inputs: what each method does with them."""
