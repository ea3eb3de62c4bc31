"""What all importers share: the description they return, loops that must fit, XML, messages."""
