// Says where to press for a click on an element, or what hinders it. Until endOfClick is called,
// only a click on the element gets through to the page. That returns what the click met instead, or
// nothing if it met the element.
async function aim(find) {
	const alive = !matchMedia('(scripting: none)').matches;
	if (alive) await new Promise(requestAnimationFrame);
	const element = find();
	if (!element) return { hindrance: 'it is not there' };
	if (!look().free) element.scrollIntoView({ block: 'start', behavior: 'instant' });
	const { x, y, top, free } = look();
	if (!free) return { hindrance: top ? `it is under ${nameOf(top)}` : 'it is not shown' };
	if (!alive) return { x, y }; // nothing would call judge, and no script moves what is shown

	const over = new AbortController();
	let met = 'nothing';
	for (const type of ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click']) {
		addEventListener(type, judge, { capture: true, signal: over.signal });
	}
	globalThis.endOfClick = () => {
		over.abort();
		delete globalThis.endOfClick;
		return met && `the click met ${met}`;
	};
	return { x, y };

	function look() {
		const box = element.getClientRects()[0];
		if (!box) return {};
		const x = box.x + box.width / 2, y = box.y + box.height / 2;
		const top = element.getRootNode().elementFromPoint(x, y);
		return { x, y, top, free: element.contains(top) };
	}

	function judge(event) {
		if (!event.isTrusted) return; // a script of the page made it
		const path = event.composedPath();
		if (!path.includes(element)) {
			met = nameOf(path[0]);
			event.stopImmediatePropagation();
			event.preventDefault();
		} else if (event.type === 'click') {
			met = '';
			over.abort(); // what follows is of the page: a click on a label makes one on its field
		}
	}

	function nameOf(node) {
		return node?.cloneNode?.().outerHTML ?? 'the page';
	}
}
