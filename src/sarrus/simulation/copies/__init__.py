"""Many copies of one mechanism in time: arguments, the compiled steps, events, results, clusters."""
