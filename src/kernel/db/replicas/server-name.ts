import { hostname } from 'node:os'
import { resolve } from 'node:path'

import { sha256 } from '../../ids.ts'

const hostnameCharsMax = 64

/** Returns the name of a server in the console, such as "berth-1:3000". */
export const serverNameOf = (origin: string): string =>
  `${hostname().slice(0, hostnameCharsMax)}:${new URL(origin).port || 80}`

/** Names a data folder: copies of a folder have the same secret, on other machines or paths. */
export const folderIdOf = ({ dataDir }: { dataDir: string }, secret: string): string =>
  sha256(`${hostname()} ${resolve(dataDir)} ${secret}`).slice(0, 32)
