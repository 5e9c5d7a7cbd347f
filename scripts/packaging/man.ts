import { version } from '../../src/kernel/version.ts'
import { createProgram } from '../../src/server/cli/command-line.ts'

/** Escapes a line for roff: a leading dot or quote is a request, a backslash an escape. */
const escaped = (line: string): string =>
  line
    .replaceAll('\\', '\\e')
    .replace(/^(?=[.'])/, '\\&')
    .replaceAll('-', '\\-')

/** Returns the manual page berth(1), which has the text of `berth help`. */
export function manPage(): string {
  return [
    `.TH BERTH 1 "2026-11-29" "berth ${version}" "User Commands"`,
    '.SH NAME',
    'berth \\- hosts apps that AI agents make, with one gateway to many models',
    '.SH SYNOPSIS',
    '.B berth',
    '.I command',
    '[\\fIoptions\\fR]',
    '.SH COMMANDS',
    '.nf',
    ...createProgram().helpInformation().trim().split('\n').map(escaped),
    '.fi',
    '.SH FILES',
    '.TP',
    '.I ./berth.toml',
    'Settings, in lower case. The environment overrides them.',
    '.TP',
    '.I ./data',
    'The data folder, unless DATA_DIR names another one.',
    '.SH SEE ALSO',
    'A running server has its guides at /docs.',
    '',
  ].join('\n')
}
