/** Returns the lines of a text, each as long as a line of Python after its indentation. */
export function wrap(text: string, indent: number, hanging = 0): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(/\s+/)) {
    const spaces = indent + (lines.length > 0 ? hanging : 0)
    if (line !== '' && spaces + line.length + 1 + word.length > 96) {
      lines.push(' '.repeat(spaces) + line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  lines.push(' '.repeat(indent + (lines.length > 0 ? hanging : 0)) + line)
  return lines
}

/** Returns the lines of a docstring. */
export function docstring(text: string, indent: number, rest: string[] = []): string[] {
  const escape = (line: string) => line.replaceAll('\\', '\\\\').replaceAll('"""', '""\\"')
  const [first = '', ...others] = wrap(text, indent).map(escape)
  const start = ' '.repeat(indent)
  const lines = [`${start}"""${first.trim()}`, ...others, ...rest.map(escape)]
  const last = lines.at(-1) ?? ''
  if (lines.length === 1 && !last.endsWith('"')) return [`${last}"""`]
  return [...lines, `${start}"""`]
}
