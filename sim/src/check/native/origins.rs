//! How each state was first reached, by number: enough to find the way back from any state to the first one.

/// How a state was first reached.
#[derive(Clone, Copy)]
pub(super) struct Origin {
    pub(super) parent: u32,
    pub(super) action: u16,
}

/// The packed form in memory: there is one for each state, and few scenarios have more actions than a byte can number.
#[derive(Clone, Copy)]
#[repr(C, packed)]
struct PackedOrigin {
    parent: u32,
    low: u8,
}

/// Parents and actions by number, in pieces: a single array would be copied whenever it grows, and then exist twice.
pub(super) struct Origins {
    pieces: Vec<Vec<PackedOrigin>>,
    /// The high bytes of the action numbers, in pieces as well; `None`: one byte is enough for each.
    high: Option<Vec<Vec<u8>>>,
}

impl Origins {
    const PIECE: usize = 1 << 16;

    /// An empty store for a scenario with this many actions.
    pub(super) fn of(actions: usize) -> Self {
        Self { pieces: Vec::new(), high: (actions > 1 << u8::BITS).then(Vec::new) }
    }

    pub(super) fn push(&mut self, Origin { parent, action }: Origin) {
        let [low, high] = action.to_le_bytes();
        push_in_pieces(&mut self.pieces, PackedOrigin { parent, low });
        if let Some(pieces) = &mut self.high {
            push_in_pieces(pieces, high);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.pieces.len().saturating_sub(1) * Self::PIECE + self.pieces.last().map_or(0, Vec::len)
    }

    pub(super) fn get(&self, number: u32) -> Origin {
        let number = number as usize;
        let (piece, place) = (number / Self::PIECE, number % Self::PIECE);
        let PackedOrigin { parent, low } = self.pieces[piece][place];
        let high = self.high.as_ref().map_or(0, |pieces| pieces[piece][place]);
        Origin { parent, action: u16::from_le_bytes([low, high]) }
    }

    pub(super) fn bytes(&self) -> usize {
        let packed: usize = self.pieces.iter().map(|piece| piece.capacity() * size_of::<PackedOrigin>()).sum();
        packed + self.high.iter().flatten().map(Vec::capacity).sum::<usize>()
    }
}

/// Adds one entry at the end, in pieces of [`Origins::PIECE`].
fn push_in_pieces<T>(pieces: &mut Vec<Vec<T>>, value: T) {
    match pieces.last_mut() {
        Some(piece) if piece.len() < Origins::PIECE => piece.push(value),
        _ => pieces.push(vec![value]),
    }
}
