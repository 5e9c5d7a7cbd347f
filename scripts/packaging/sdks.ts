/** The packages of both SDKs: berth-sdk-<version>.tgz for npm, and a wheel and an sdist for pip. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import ts from 'typescript'

import { version } from '../../package.json'
import { pack } from './npm.ts'

const root = join(import.meta.dir, '../..')
const hatchling = '1.33.0'

/** Writes the tarball of `npm publish`, with JavaScript and its types. */
export async function packTypescript(out: string): Promise<void> {
  const work = mkdtempSync(join(tmpdir(), 'berth-sdk-'))
  const source = join(root, 'sdk/typescript')
  for (const name of ['package.json', 'README.md']) {
    cpSync(join(source, name), join(work, 'package', name))
  }
  cpSync(join(root, 'LICENSE'), join(work, 'package/LICENSE'))
  compile(join(source, 'src/index.ts'), join(work, 'package'))
  await pack(work, join(out, `berth-sdk-${version}.tgz`))
  rmSync(work, { recursive: true })
}

/** Compiles a module with all that it imports. Throws an Error with the problems. */
function compile(path: string, outDir: string): void {
  const program = ts.createProgram([path], {
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.NodeNext,
    lib: ['lib.esnext.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts', 'lib.dom.asynciterable.d.ts'],
    types: [],
    strict: true,
    declaration: true,
    rewriteRelativeImportExtensions: true,
    outDir,
  })
  // TypeScript rewrites the imports of code only.
  const write: ts.WriteFileCallback = (file, text) =>
    ts.sys.writeFile(file, text.replaceAll(/(from '\.\/[\w-]+)\.ts'/g, "$1.js'"))
  const { diagnostics } = program.emit(undefined, write)
  const problems = [...ts.getPreEmitDiagnostics(program), ...diagnostics]
  if (problems.length === 0) return
  const host = {
    getCanonicalFileName: String,
    getCurrentDirectory: () => root,
    getNewLine: () => '\n',
  }
  throw new Error(ts.formatDiagnostics(problems, host))
}

/** Writes the wheel and the sdist, where Python can have an environment. */
export async function packPython(out: string): Promise<void> {
  if (Bun.which('python3') === null) {
    console.log('python3 is missing: there is no Python package.')
    return
  }
  const home = join(root, `dist/hatchling-${hatchling}`)
  const program = join(home, 'bin/hatchling')
  if (!(await Bun.file(program).exists())) {
    run(['python3', '-m', 'venv', home])
    run([
      join(home, 'bin/pip'),
      'install',
      '-q',
      '--disable-pip-version-check',
      `hatchling==${hatchling}`,
    ])
  }
  const work = mkdtempSync(join(tmpdir(), 'berth-sdk-'))
  cpSync(join(root, 'sdk/python'), work, { recursive: true })
  cpSync(join(root, 'LICENSE'), join(work, 'LICENSE'))
  run([program, 'build', '-d', out], work)
  rmSync(work, { recursive: true })
}

function run(command: string[], cwd = root): void {
  const env = { ...process.env, SOURCE_DATE_EPOCH: '1767225600' }
  const { exitCode } = Bun.spawnSync(command, { cwd, env, stdout: 'ignore', stderr: 'inherit' })
  if (exitCode !== 0) throw new Error(`${command.join(' ')} failed.`)
}
