import type { AnyElysia } from 'elysia'

import { lazy } from '../lazy.ts'

/** Returns a pattern of the paths of a route: "/apps/:id" and "/models/*". */
const patternOf = (path: string): RegExp =>
  new RegExp(
    `^${path
      .replace(/[.+^${}()|[\]\\]/g, '\\$&')
      .replaceAll(/:\w+/g, '[^/]+')
      .replace('*', '.*')}$`,
  )

const hasParameter = (path: string): boolean => /[:*]/.test(path)

/** The router takes a path with a slash at its end for the one without. */
const withoutEnd = (path: string): string => path.replace(/(?<=.)\/$/, '')

/** Finds the methods of the paths of an app. The router itself only finds a path with a method. */
export function methodFinder(app: Pick<AnyElysia, 'routes'>) {
  const fixed = lazy(() =>
    Map.groupBy(
      app.routes.filter(({ path }) => !hasParameter(path)),
      ({ path }) => withoutEnd(path),
    ),
  )
  const others = lazy(() =>
    app.routes
      .filter(({ path }) => hasParameter(path))
      .map(({ path, method }) => ({ pattern: patternOf(path), method })),
  )
  return {
    /** Checks for a path of its own that a parameter matched, because it lacks the method. */
    isOtherPath: (route: string, path: string): boolean =>
      hasParameter(route) && fixed().has(withoutEnd(path)),
    /**
     * Lists the methods of a path for the header `Allow` (RFC 9110, section 10.2.1); none for a
     * path without a route.
     */
    methodsOf(sent: string): string[] {
      const path = withoutEnd(sent)
      const found = fixed().get(path) ?? others().filter(({ pattern }) => pattern.test(path))
      const methods = new Set(found.map(({ method }) => method))
      // The router answers HEAD with the route of GET.
      if (methods.has('GET')) methods.add('HEAD')
      return [...methods].toSorted()
    },
  }
}

/** Lists methods in a sentence: "GET, HEAD or POST". */
export const methodList = (methods: readonly string[]): string =>
  new Intl.ListFormat('en-US', { type: 'disjunction' }).format(methods).replace(', or', ' or')
