//! The dictionary of three languages: what is the same thing in the model, in our scripts and commands, and in Redisson.
