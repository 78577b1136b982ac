//! The configurations that are built into the program.

/// What a shipped file is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Machine,
    Design,
    /// An AES-GCM engine without a machine around it.
    Engine,
    /// An engine of another AEAD without a machine around it.
    Aead,
}

#[derive(Debug, Clone, Copy)]
pub struct Shipped {
    pub role: Role,
    /// Its path below `hw-configs/`.
    pub path: &'static str,
    pub text: &'static str,
}

macro_rules! shipped {
    ($($role:ident $path:literal),* $(,)?) => {
        /// All of them.
        pub const SHIPPED: &[Shipped] = &[$(Shipped {
            role: Role::$role,
            path: $path,
            text: include_str!(concat!("../../../../hw-configs/", $path)),
        }),*];
    };
}

shipped![
    Machine "h100-nvl-tdx.toml",
    Machine "h100-nvl-snp.toml",
    Machine "h100-sxm5-off.toml",
    Machine "h100-sxm5-vm.toml",
    Machine "h100-tdx-gen5.toml",
    Machine "a100-off.toml",
    Machine "b200-tdx.toml",
    Machine "h20-tdx.toml",
    Machine "h200-tdx.toml",
    Machine "hgx-h100-8gpu.toml",
    Machine "generic-gen4.toml",
    Machine "generic-16gpu.toml",
    Design "designs/aegis-128l.toml",
    Design "designs/aegis-256.toml",
    Design "designs/aegis-256x2.toml",
    Design "designs/by-page.toml",
    Design "designs/chacha20-poly1305.toml",
    Design "designs/direct.toml",
    Design "designs/direct-in-place.toml",
    Design "designs/eager.toml",
    Design "designs/fastrack.toml",
    Design "designs/gcm-siv.toml",
    Design "designs/gcm-sst.toml",
    Design "designs/h100-cc.toml",
    Design "designs/h100-cc-resealed.toml",
    Design "designs/handover-timeout.toml",
    Design "designs/hold.toml",
    Design "designs/ide-8.toml",
    Design "designs/ide.toml",
    Design "designs/inline-tags.toml",
    Design "designs/interleaved-ghash.toml",
    Design "designs/link.toml",
    Design "designs/message-parallel.toml",
    Design "designs/more-reads.toml",
    Design "designs/off.toml",
    Design "designs/overlap.toml",
    Design "designs/pad-ahead.toml",
    Design "designs/parallel-auth.toml",
    Design "designs/parallel-auth-same-tag.toml",
    Design "designs/pcie-peers.toml",
    Design "designs/peer-staging.toml",
    Design "designs/pipellm.toml",
    Design "designs/plain.toml",
    Design "designs/segmented-ghash.toml",
    Design "designs/serial-ghash.toml",
    Design "designs/shared-engine.toml",
    Design "designs/skid.toml",
    Design "designs/sm.toml",
    Design "designs/sm-tensor.toml",
    Design "designs/split-message.toml",
    Design "designs/staged.toml",
    Design "designs/store-and-forward.toml",
    Design "designs/tag-parity.toml",
    Design "designs/tags-4k.toml",
    Design "designs/tensor-granularity.toml",
    Design "designs/text-crc.toml",
    Design "designs/trusted-fabric.toml",
    Design "designs/twin-comparators.toml",
    Design "designs/two-pces.toml",
    Design "designs/verify-bound.toml",
    Aead "engines/aegis-128l.toml",
    Aead "engines/aegis-128x2.toml",
    Aead "engines/aegis-128x4.toml",
    Aead "engines/aegis-256.toml",
    Aead "engines/aegis-256x2.toml",
    Aead "engines/aegis-256x4.toml",
    Aead "engines/chacha20-poly1305.toml",
    Engine "engines/folded-16.toml",
    Engine "engines/folded-32.toml",
    Engine "engines/folded-4.toml",
    Engine "engines/folded-8.toml",
    Aead "engines/gcm-siv.toml",
    Aead "engines/gcm-sst.toml",
    Engine "engines/iterative-masked.toml",
    Engine "engines/iterative-unmasked.toml",
    Engine "engines/mask-last.toml",
    Engine "engines/serial-aes128.toml",
    Engine "engines/streaming.toml",
    Engine "engines/unrolled-1.toml",
    Engine "engines/unrolled-1-r1.toml",
    Engine "engines/unrolled-1-r3.toml",
    Engine "engines/unrolled-2.toml",
    Engine "engines/unrolled-2-r1.toml",
    Engine "engines/unrolled-2-r3.toml",
    Engine "engines/unrolled-all.toml",
    Engine "engines/unrolled-all-r1.toml",
    Engine "engines/unrolled-all-r3.toml",
    Engine "engines/unrolled-half.toml",
    Engine "engines/unrolled-half-r1.toml",
    Engine "engines/unrolled-half-r3.toml",
];

/// The parameters that detect faults of the machine.
pub const PROTECTIONS: &[&str] =
    &["cipher.text_crc", "copy_engine.handover_timeout", "tag_queue.parity", "tag_queue.twin_comparators"];

impl Shipped {
    /// The name that the command line takes: the file's, without directory and ending.
    pub fn name(&self) -> &'static str {
        let file = self.path.rsplit('/').next().unwrap_or(self.path);
        file.strip_suffix(".toml").unwrap_or(file)
    }

    /// Whether it is a machine that was calibrated to measurements of its own.
    pub fn is_calibrated(&self) -> bool {
        self.role == Role::Machine && self.text.contains("kind = \"calibrated\"")
    }

    /// What it belongs to in a list.
    pub fn group(&self) -> &'static str {
        match self.role {
            Role::Machine if self.is_calibrated() => "machines, calibrated to measurements of their own",
            Role::Machine => "machines, of which nothing measured was used: known in part, assumed in part",
            Role::Design => "designs, to lay over a machine with --design",
            Role::Engine => "AES-GCM engines, for sealsim engine",
            Role::Aead => "engines of other AEADs, for sealsim engine",
        }
    }

    /// Whether it sets nothing but what lies between GPUs.
    pub fn is_of_fabric(&self) -> bool {
        self.sets_only(|table, _| table == "fabric")
    }

    /// Whether it sets nothing but what the software of the host decides, so that it needs no other GPU.
    pub fn is_of_host(&self) -> bool {
        self.sets_only(|table, _| ["cipher", "driver", "staging"].contains(&table))
    }

    /// Whether it sets nothing but what detects faults of the machine.
    pub fn is_protection(&self) -> bool {
        self.sets_only(|table, field| PROTECTIONS.contains(&&*format!("{table}.{field}")))
    }

    /// Whether it is a design that sets something, and nothing but tables and fields of some sort. A value beside all tables is of none.
    fn sets_only(&self, may: impl Fn(&str, &str) -> bool) -> bool {
        let table = self.table();
        let mut sets =
            table.iter().filter(|(key, _)| !["name", "summary", "provenance"].contains(&key.as_str())).peekable();
        let all = |(table, fields): (&String, &toml::Value)| {
            fields.as_table().is_some_and(|fields| fields.keys().all(|field| may(table, field)))
        };
        self.role == Role::Design && sets.peek().is_some() && sets.all(all)
    }

    fn table(&self) -> toml::Table {
        self.text.parse().unwrap_or_default()
    }

    /// What it says about itself.
    pub fn summary(&self) -> String {
        self.table().get("summary").and_then(toml::Value::as_str).unwrap_or_default().to_owned()
    }

    /// The shipped file called `name`, with or without `.toml`.
    pub fn find(role: Role, name: &str) -> Option<&'static Self> {
        let name = name.strip_suffix(".toml").unwrap_or(name);
        SHIPPED.iter().find(|shipped| shipped.role == role && shipped.name() == name)
    }

    pub fn names(role: Role) -> impl Iterator<Item = &'static str> {
        SHIPPED.iter().filter(move |shipped| shipped.role == role).map(Self::name)
    }

    /// The names of the designs that change copies between host and GPU: all but those of the fabric and those that only detect faults.
    pub fn copy_designs() -> impl Iterator<Item = &'static str> {
        let designs = SHIPPED.iter().filter(|shipped| shipped.role == Role::Design);
        designs.filter(|design| !design.is_of_fabric() && !design.is_protection()).map(Self::name)
    }

    /// The names of the designs that say who protects what passes between GPUs, whatever else they set.
    pub fn fabric_designs() -> impl Iterator<Item = &'static str> {
        let sets_mode =
            |design: &&Self| design.table().get("fabric").is_some_and(|fabric| fabric.get("mode").is_some());
        SHIPPED.iter().filter(|shipped| shipped.role == Role::Design).filter(sets_mode).map(Self::name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{collections::BTreeSet, fs, path::Path};

    #[test]
    fn every_file_in_hw_configs_is_built_in() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../hw-configs");
        let mut files = BTreeSet::new();
        for folder in ["", "designs/", "engines/"] {
            for entry in fs::read_dir(root.join(folder)).unwrap() {
                let name = entry.unwrap().file_name().into_string().unwrap();
                if name.ends_with(".toml") {
                    files.insert(format!("{folder}{name}"));
                }
            }
        }
        assert_eq!(files, SHIPPED.iter().map(|shipped| shipped.path.to_owned()).collect());
    }
}
