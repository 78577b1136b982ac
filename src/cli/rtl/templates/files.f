src/gf.sv src/aes.sv src/wide.sv top.sv
