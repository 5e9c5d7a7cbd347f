/** Settings of a house that counts nobody's requests, keys and pages. */
export const unlimited = {
  GATEWAY_REQUESTS_PER_MINUTE: '0',
  KEYS_PER_ADDRESS_DAY: '0',
  KEYS_PER_DAY: '0',
  PUBLISHES_PER_HOUR: '0',
  REQUESTS_PER_MINUTE: '0',
}
