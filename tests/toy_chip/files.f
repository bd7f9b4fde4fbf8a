kestrel.v  // all of it
