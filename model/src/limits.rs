//! The largest world a scenario may ask for.
//!
//! Arrays are sized by these numbers, and the scenario reader quotes them in its errors.

/// Client processes.
pub const MAX_CLIENTS: u8 = 4;
/// Client processes beside several lock names and replicas: an effect under way says which of their threads wait for it.
pub const MAX_WAITING_CLIENTS: u8 = 3;
/// Client processes where they ask several masters.
pub const MAX_CLIENTS_OF_MASTERS: u8 = 3;
/// Threads of one client.
pub const MAX_THREADS: u8 = 2;
/// Names of locks that one client uses: its threads use one each.
pub const MAX_NAMES: u8 = MAX_THREADS;
/// Locks that one renewal carries (Redisson: `lockWatchdogBatchSize`, 100 unless it is set).
pub const RENEWAL_BATCH: u8 = 100;
/// Independent masters, each a group of its own.
pub const MAX_GROUPS: u8 = 5;
/// Replicas of one master.
pub const MAX_REPLICAS: u8 = 2;
/// Replicas of each of several masters.
pub const MAX_REPLICAS_OF_MASTERS: u8 = 1;
/// Holds of one thread.
pub const MAX_HOLDS: u8 = 8;
/// Holds of one reader, with those that it has left behind.
pub const MAX_READ_HOLDS: u8 = 4;
/// Values below one name that a client may take together.
pub const MAX_SET_VALUES: u8 = 2;
/// Ticks of any one time: small, because every tick is a state.
pub const MAX_TICKS: u8 = 60;
/// The longest time until a deadline in a queue, in ticks: deadlines add up, each to that of the one before.
pub const MAX_DEADLINE_TICKS: u8 = 240;
/// Ticks of a time that lies beyond every run: a TTL of that length or more.
pub const FAR_TICKS: u8 = 250;
/// Ticks of one jump of a clock, forward or backward: all jumps of a budget together still fit into a byte.
pub const MAX_JUMP: i8 = 15;
/// Acquires of one client, when they are bounded.
pub const MAX_ACQUIRES: u8 = 100;
/// Budget of any one fault.
pub const MAX_FAULTS: u8 = 8;
/// Actions of one scenario: tables have a bit for each.
pub const MAX_ACTIONS: usize = 640;
/// Resends of one request.
pub const MAX_RETRIES: u8 = 4;

// Capacities: where one is exceeded, what lies behind is not explored, and a verdict that rests on every state is
// inconclusive (`notes::Capacity`). Each has the room that a scenario usually gets, which ordinary worlds do not fill, and
// the most that it may ask for in `[bounds]`.

/// Effects under way to one replica.
pub const EFFECTS_UNDER_WAY: u8 = 4;
/// The most of them: a layout has an array of them for each node.
pub const MAX_EFFECTS_UNDER_WAY: u8 = 12;
/// Unlock messages under way to one client, and permits of its wake-up entry.
pub const MESSAGES: u8 = 3;
/// The most of them.
pub const MAX_MESSAGES: u8 = 8;
/// The same where some of them are for all who sleep.
pub const MAX_SHARED_MESSAGES: u8 = 4;
/// Receipts that a node stores at once.
pub const RECEIPTS: u8 = 6;
/// The most of them: each effect under way has as many.
pub const MAX_RECEIPTS: u8 = 8;
/// Abandoned requests of one client. A scenario cannot raise this: actions name each of them.
pub const LATE_REQUESTS: u8 = 4;
/// Grants of one thread that its renewal table has not heard of.
pub const REGISTRATIONS: u8 = 3;
/// The most of them.
pub const MAX_REGISTRATIONS: u8 = 16;
/// Renewal timers of one client: as many as there are bits for. A scenario cannot raise this.
pub const MAX_RENEWAL_TIMERS: u8 = 3;
/// Holds of one thread that a node counts: those that its client has left behind, too.
pub const HOLDS_COUNTED: u8 = 12;
/// The most of them: a byte counts them.
pub const MAX_HOLDS_COUNTED: u8 = 60;
/// Fencing tokens that a counter in Redis may issue: so many that a bit for each fits into one word.
pub const MAX_TOKENS: u8 = 60;
/// The same where they would grow without end.
pub const FEW_TOKENS: u8 = 6;
/// The longest period of timers that multiply: five bits of a renewal table, of which three values are taken.
pub const MAX_RENEWAL_PERIOD: u8 = 29;

/// The largest rank of a token whose write is under way: four bits of a thread. The reader of scenarios refuses a resource
/// that is far where more tokens than this can be remembered (`Config::most_tokens`).
pub const MAX_TOKEN_UNDER_WAY: u8 = 15;

/// Values of one holder's acquires that are remembered at once, and one more: in its call, its renewal and its abandoned
/// requests, by the thread and the renewal table, and on every node in memory, on the disk and under way. Numbers never run
/// out, so this is no capacity: where acquires are told apart no more effects can be under way than usual.
pub const MAX_VALUES: u8 = 2 + LATE_REQUESTS + 2 + (MAX_REPLICAS + 1) * (2 + EFFECTS_UNDER_WAY) + 1;
