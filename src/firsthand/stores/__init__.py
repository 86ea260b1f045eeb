"""Where memories are kept. One folder a back end, each behind the ports of `firsthand.ports`."""
