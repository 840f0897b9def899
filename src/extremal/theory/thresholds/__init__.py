"""The ε up to which one bit is optimal, and from which randomised response is."""
