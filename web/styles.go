package web

import "io/fs"

// styles are the style sheets of the pages, by their paths. Each is several files, one after the
// other, so that a page asks once for all of them.
var styles = map[string][]string{
	"/home.css":    {"look/tokens.css", "look/shell.css", "home/home.css"},
	"/product.css": {"look/tokens.css", "look/shell.css"},
}

// styleSheets makes the style sheets from their files.
func styleSheets(files fs.FS) (map[string]*asset, error) {
	sheets := map[string]*asset{}
	for path, names := range styles {
		content, err := joined(files, names)
		if err != nil {
			return nil, err
		}
		packed, err := pack(content)
		if err != nil {
			return nil, err
		}
		sheet, err := newAsset(path, packed)
		if err != nil {
			return nil, err
		}
		sheet.policy, sheet.cache = homePolicy, mustAsk
		sheets[path] = sheet
	}
	return sheets, nil
}

// joined returns the contents of files, one after the other.
func joined(files fs.FS, names []string) ([]byte, error) {
	var all []byte
	for _, name := range names {
		content, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		all = append(all, content...)
	}
	return all, nil
}
