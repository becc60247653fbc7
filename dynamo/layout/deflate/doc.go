// Package deflate compresses short texts. It writes DEFLATE (RFC 1951) without the first part: the
// Huffman codes, which take a fifth of a compressed review and most of the time to expand it.
//
// Instead, there is a preset code for each of a few languages and scripts, as zlib has preset
// dictionaries. The first byte of a compressed text names its code. The rest is DEFLATE once the
// prefix of that code is put before it (prefixes.txt), so any DEFLATE reader can read it.
//
// Texts that no preset code suits are complete DEFLATE streams. Their first byte tells: it never
// has both of the bits that are set in marker, since RFC 1951 reserves that type of block.
package deflate
