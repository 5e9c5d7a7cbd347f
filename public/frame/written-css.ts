/**
 * Makes CSS that scripts write load the files: style elements and attributes, and rules. The image
 * that a build for the root of a host imports is a name such as "/assets/hero.png" there.
 */
export function replaceStyles(inCss: (css: string) => string): void {
  const replaced = (css: string): string => (/url\(|@import/i.test(css) ? inCss(css) : css)
  watchElements(replaced)
  const { insertRule, replace, replaceSync } = CSSStyleSheet.prototype
  CSSStyleSheet.prototype.insertRule = function (rule, index) {
    return insertRule.call(this, replaced(String(rule)), index)
  }
  CSSStyleSheet.prototype.replace = function (css) {
    return replace.call(this, replaced(String(css)))
  }
  CSSStyleSheet.prototype.replaceSync = function (css) {
    replaceSync.call(this, replaced(String(css)))
  }
}

/** Its changes come before the browser computes styles, and so before it loads anything. */
function watchElements(replaced: (css: string) => string): void {
  const take = (node: Node): void => {
    if (!(node instanceof Element)) return
    const style = node.getAttribute('style') ?? ''
    const css = node instanceof HTMLStyleElement ? (node.textContent ?? '') : ''
    if (replaced(style) !== style) node.setAttribute('style', replaced(style))
    if (replaced(css) !== css) node.textContent = replaced(css)
  }
  new MutationObserver((records) => {
    for (const { target, addedNodes } of records) {
      take(target)
      for (const node of addedNodes) {
        take(node)
        if (node instanceof Element) node.querySelectorAll('style,[style]').forEach(take)
      }
    }
  }).observe(document, {
    childList: true,
    subtree: true,
    attributes: true,
    attributeFilter: ['style'],
  })
}
