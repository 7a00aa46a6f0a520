//! Which release left a receipt: the numbers of receipts, beside those of values (`values`).

use super::layout::Layout;
use super::normal_form::unread_nodes;
use super::state::World;
use crate::client::requests::Request;
use crate::config::sections::Config;
use crate::locks::holder::Holder;
use crate::locks::receipts::ReceiptStore;

/// The smallest number that no release of this thread has and no receipt that could be found.
pub(super) fn free_receipt<Y: Layout>(config: &Config, world: &World<Y>, holder: Holder) -> u8 {
    // Bit n: n is used. A few calls, and of each node its receipts and one more for each effect under way to it: fewer than
    // there are bits.
    let mut used = 1u128;
    let of_thread = |request: &&Request| request.verb.releases() && request.thread == holder.thread();
    for request in world.requests(holder.client()).iter().map(|(_, request)| request).filter(of_thread) {
        used |= 1 << request.id;
    }
    let unread = unread_nodes(config, world, 0);
    for (_, node) in world.group().numbered().filter(|(index, _)| !unread.has(*index)) {
        let under_way = node.queue.effects().iter().map(|effect| effect.stored);
        for stored in under_way.chain([node.stored]) {
            for receipt in stored.receipts.iter().filter(|receipt| receipt.holder == holder) {
                used |= 1 << receipt.id;
            }
        }
    }
    u8::try_from(used.trailing_ones()).unwrap_or(u8::MAX)
}
