#!/usr/bin/env node
// Runs the binary of the package for this platform, which npm installed beside this one.
'use strict'

const { spawn } = require('node:child_process')
const { constants } = require('node:os')
const { isatty } = require('node:tty')

const isMusl =
  process.platform === 'linux' && !process.report.getReport().header.glibcVersionRuntime
const system = process.platform === 'win32' ? 'windows' : process.platform
const target = `${system}-${process.arch}${isMusl ? '-musl' : ''}`
const program = process.platform === 'win32' ? 'berth.exe' : 'berth'

let path
try {
  path = require.resolve(`@berth/${target}/${program}`)
} catch {
  console.error(
    `There is no package of Berth for ${target}, or npm did not install it. ` +
      'Install again without --omit=optional, or build from source.',
  )
  process.exit(1)
}

const child = spawn(path, process.argv.slice(2), { stdio: 'inherit' })
// A terminal sends Ctrl-C to all its programs. A second one would end the server before its requests.
const hasTerminal = [0, 1, 2].some((descriptor) => isatty(descriptor))
process.on('SIGINT', () => hasTerminal || child.kill('SIGINT'))
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
child.on('error', (error) => {
  console.error(`Berth did not start: ${error.message}`)
  process.exit(1)
})
child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]))
