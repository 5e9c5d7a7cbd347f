/** Finds the shell, which another page may frame: above the wrapper, `depth` frames up. */
export function shellAbove(depth: number): Window {
  let shell: Window = window
  for (let level = 0; level <= depth; level += 1) shell = shell.parent
  return shell
}
