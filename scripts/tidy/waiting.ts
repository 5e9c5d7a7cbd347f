/** Tests wait for events. A duration is too short on a busy machine and too long on all others. */
import ts from 'typescript'

import { type Finding, finding, type Source } from './source.ts'

/** `waitForFunction` polls by `eval`, which the CSP of pages blocks after the first time. */
const waits =
  /^(Bun\.sleep(Sync)?|(globalThis\.)?set(Timeout|Interval)|\w+\.waitFor(Timeout|Function)|performance\.now|Date\.now|stopwatch)$/
const module = 'node:timers/promises'

/** Files that may sleep or measure time, with the reason. */
const mayWait: [path: RegExp, reason: string][] = [
  [/^src\/testing\/until\.ts$/, 'the wait of all tests: it polls until a deadline'],
  [/^src\/testing\/browsers\//, 'polls browsers and ends those that hang'],
  [/^src\/testing\/fakes\/upstream\.ts$/, 'the delay of a script'],
  [/^src\/testing\/fakes\/identity-provider\.ts$/, 'the time in signed tokens'],
  [
    /^src\/testing\/(processes\/|replicas\/(journeys|kill-loop)\.ts$)/,
    'kills processes at random times, beside requests',
  ],
  [/^src\/testing\/red-team\//, 'an attack that fails has no event'],
  [/^src\/testing\/openapi\/fuzz\.ts$/, 'reports slow operations and those that hang'],
  [/^src\/apps\/browser\/chromium\.test\.ts$/, 'stops processes longer than a page may hang'],
]

/** Finds expectations of a promise in tests whose result is dropped: they pass whatever happens. */
export function droppedExpectations(tree: Source[]): Finding[] {
  return tree
    .filter(({ test }) => test)
    .flatMap((source) =>
      source.nodes
        .filter((node) => ts.isExpressionStatement(node))
        .filter(({ expression }) =>
          /^expect\(.*\)\s*\.(resolves|rejects)\b/s.test(expression.getText(source.ast)),
        )
        .map((node) =>
          finding(
            source,
            node,
            'an expectation of a promise that the test does not wait for',
            'write "await" before it',
          ),
        ),
    )
}

/** Finds sleeps and clocks in tests and fixtures. */
export function waiting(tree: Source[]): Finding[] {
  return tree
    .filter(({ path, test }) => test && !mayWait.some(([allowed]) => allowed.test(path)))
    .flatMap((source) => {
      const calls = source.nodes
        .filter((node) => ts.isCallExpression(node))
        .filter(({ expression }) => waits.test(expression.getText(source.ast)))
      const imports = source.imports.filter(({ to }) => to === module)
      return [...calls, ...imports.map(({ node }) => node)].map((node) =>
        finding(
          source,
          node,
          'a test that waits for a time or measures it, or polls by `eval`',
          'wait for an event with src/testing/until.ts, or set the clock of the test',
        ),
      )
    })
}
