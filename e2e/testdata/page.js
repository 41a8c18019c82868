// Looks at the boxes of a page in frames of two widths: what is wider than the page, which
// words are broken, which text is hard to read, and whether anything of it ran.
const faults = [];
const rgb = (s) => s.match(/[\d.]+/g).map(Number);
const light = (s) => rgb(s).slice(0, 3).map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
  .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);

function behind(el, win) {
  for (; el; el = el.parentElement) {
    const c = win.getComputedStyle(el).backgroundColor;
    if (rgb(c)[3] !== 0) return c;
  }
  return 'rgb(255, 255, 255)';
}

function look(frame) {
  const win = frame.contentWindow, doc = frame.contentDocument, width = frame.clientWidth;
  const fault = (what, text) => faults.push(`${width}: ${what}: ${String(text).trim().slice(0, 60)}`);
  doc.querySelectorAll('details').forEach((d) => { d.open = true; });
  if (doc.documentElement.scrollWidth > width) fault('the page is wider', doc.documentElement.scrollWidth);
  for (const el of doc.body.querySelectorAll('*')) {
    const box = el.getBoundingClientRect();
    if (box.right > width + 1 || box.left < -1) fault('a box is outside', el.textContent);
    if (/^(script|img|iframe|object|embed|link|form|base|svg)$/i.test(el.tagName) || [...el.attributes].some((a) => /^on|^(src|href)$/i.test(a.name)))
      fault('it could run', el.outerHTML);
  }
  const walk = doc.createTreeWalker(doc.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walk.nextNode());) {
    const style = win.getComputedStyle(node.parentElement);
    const [a, b] = [light(style.color), light(behind(node.parentElement, win))].sort((x, y) => y - x);
    if (node.data.trim() && (a + 0.05) / (b + 0.05) < 4.5) fault('hard to read', `${style.color} ${node.data}`);
    for (const word of node.data.matchAll(/[\p{L}\p{N}_]+/gu)) {
      const range = doc.createRange();
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      const boxes = [...range.getClientRects()];
      const long = boxes.reduce((sum, box) => sum + box.width, 0);
      if (new Set(boxes.map((box) => Math.round(box.top))).size > 1 && long < width - 70) fault('a word is broken', word[0]);
    }
  }
}

addEventListener('load', () => {
  document.querySelectorAll('iframe').forEach(look);
  if (top.ran) faults.push('a script ran');
  document.getElementById('out').textContent = `BEGIN${JSON.stringify(faults)}END`;
});
