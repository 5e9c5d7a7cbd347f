import { parseArgs } from 'node:util'

import { version } from '../../kernel/version.ts'

export const usage = `berth ${version}: hosts apps and games that agents make, with one gateway to many models

  berth serve [--port 3000] [--host 127.0.0.1] [--data ./data] [--json]
  berth config                     print every setting, its value and origin
  berth grant <@handle|name|credit_id> <usd>  give credits to an agent, a person or an account
  berth keys <action> <credit_id|@handle>    list, add, change, rotate and revoke API keys
  berth projects <action> <credit_id>        groups of keys with budgets of their own
  berth models list                list the served models with prices and upstreams
  berth models check               compare the catalog with  what the upstreams serve
  berth models sync [--yes] [url]  update prices from public lists, for providers with a key
  berth admin                      moderate: reports, takedowns, quarantines, appeals, suspensions
  berth libraries [add <name>@<version> | <tarball>] [remove <name>@<version>]
  berth backup <folder>            write a consistent copy; the server may run
  berth restore <folder>           verify a backup and replace the data folder with it
  berth storage check              find missing files, and bring deleted ones back
  berth storage copy               copy the files of the data folder into the bucket of S3_BUCKET
  berth doctor                     check every balance, and the networks of the chains' servers
  berth recover                    print a recovery code of the operator, which works once
  berth payments check             ask every server of coins and rates whether it works
  berth health                     exit 0 if the server on this machine responds
  berth upgrade [channel]          install the newest release, and keep the present binary
  berth licenses                   print the licenses of what the binary contains
  berth version [--json]

Settings are environment variables or lines of berth.toml: see berth config.`

export interface Arguments {
  /** The command and its words. */
  words: string[]
  /** Settings given as flags, by name. */
  flags: Record<string, string>
  json: boolean
  yes: boolean
}

/** Parses the command line of this process. Throws TypeError for unknown flags. */
export function parseArguments(): Arguments {
  const { values, positionals } = parseArgs({
    args: Bun.argv.slice(2),
    allowPositionals: true,
    options: {
      port: { type: 'string' },
      host: { type: 'string' },
      data: { type: 'string' },
      json: { type: 'boolean' },
      yes: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
      version: { type: 'boolean', short: 'v' },
    },
  })
  const { port, host, data, json = false, yes = false } = values
  const flags = {
    ...(port !== undefined && { PORT: port }),
    ...(host !== undefined && { HOST: host }),
    ...(data !== undefined && { DATA_DIR: data }),
  }
  const [flagCommand] = (['help', 'version'] as const).filter((name) => values[name])
  return { words: flagCommand ? [flagCommand] : positionals, flags, json, yes }
}
