"""Privacy and a workload → the mechanism with the least n × mean squared error."""
