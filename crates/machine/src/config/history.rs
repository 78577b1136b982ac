//! Whether copies of a machine depend on those before them.

use super::machine::MachineSpec;

impl MachineSpec {
    /// The parameter through which a copy's time depends on which copies were made before it, if there is one: what it takes is then not what an equal
    /// copy takes by itself on an idle machine. What earlier copies have left in the caches is not counted; it changes a copy by what the caches give
    /// at the most.
    ///
    /// Without confidential computing calls return before their copies are done, and each waits for those before it: such a machine names what does that too.
    pub fn history(&self) -> Option<&'static str> {
        match (self.confidential_computing, &self.cipher.ahead) {
            // Guesses begin with the first copies, take IVs and room in order, and what comes from the GPU is opened behind its call.
            (true, Some(_)) => Some("cipher.ahead"),
            (true, None) => None,
            (false, _) => Some("confidential_computing"),
        }
    }
}
