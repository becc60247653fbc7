// Package deflate compresses short texts. It writes DEFLATE (RFC 1951) without the first part: the
// Huffman codes, which take a fifth of a compressed review and most of the time to expand it.
//
// Codes are agreed beforehand instead, one for each of a few languages and scripts: preset codes,
// as zlib calls a dictionary that is agreed beforehand a preset dictionary. The first byte of a
// compressed text names its code. What follows is DEFLATE again once the beginning of the code is
// put before it, so any DEFLATE reader can read it (prefixes.txt).
//
// Texts that no preset code suits are complete DEFLATE streams. Their first byte tells: it never
// has both of the bits that are set in marker, since RFC 1951 reserves that type of block.
package deflate
