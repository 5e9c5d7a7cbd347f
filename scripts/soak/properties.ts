/**
 * `bun scripts/soak/properties.ts [requests]`: the requests that src/testing/properties.test.ts
 * generates, 500 of each operation instead of CI's few. Checks every response against the OpenAPI
 * document.
 */
const { exitCode } = Bun.spawnSync([process.execPath, 'test', 'src/testing/properties.test.ts'], {
  env: { ...Bun.env, PROPERTY_RUNS: Bun.argv[2] ?? '500' },
  stdio: ['ignore', 'inherit', 'inherit'],
})
process.exit(exitCode)
