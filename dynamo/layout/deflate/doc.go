// Package deflate compresses short texts. It writes DEFLATE (RFC 1951) without its first part, the
// Huffman codes. These take a fifth of a compressed review, and most of the time to expand it.
//
// Instead, there is a preset code for each of a few languages and scripts, as zlib has preset
// dictionaries. The first byte of a compressed text names its code. The rest, after the prefix of
// that code (prefixes.txt), is DEFLATE, so any DEFLATE reader can read it.
//
// Texts that no preset code suits are complete DEFLATE streams. Their first byte never has both
// bits of marker set, since RFC 1951 reserves that type of block.
package deflate
