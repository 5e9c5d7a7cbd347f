import { expect, test } from 'bun:test'

import { addressGroup, addressPrefix, clientAddress, ipVersion } from './address.ts'

test('X-Forwarded-For counts only from a trusted proxy', () => {
  expect(clientAddress('203.0.113.9', '10.1.1.1', [])).toBe('203.0.113.9')
  expect(clientAddress('10.0.0.1', '198.51.100.7', ['10.0.0.1'])).toBe('198.51.100.7')
  expect(clientAddress('::ffff:10.0.0.1', '198.51.100.7', ['10.0.0.1'])).toBe('198.51.100.7')
})

test('addresses that a client adds to X-Forwarded-For are ignored', () => {
  const trusted = ['10.0.0.1', '10.0.0.2']
  expect(clientAddress('10.0.0.1', '1.1.1.1, 198.51.100.7, 10.0.0.2', trusted)).toBe('198.51.100.7')
  expect(clientAddress('10.0.0.1', 'nonsense', trusted)).toBe('10.0.0.1')
  expect(clientAddress('10.0.0.1', '1.1.1.1, nonsense', trusted)).toBe('10.0.0.1')
})

test('rate limits count an IPv6 address by its /64 network', () => {
  expect(addressGroup('192.0.2.1')).toBe('192.0.2.1')
  expect(addressGroup('2001:db8:1:2:3:4:5:6')).toBe('2001:db8:1:2::/64')
  expect(addressGroup('2001:db8:1:2::9')).toBe('2001:db8:1:2::/64')
  expect(addressGroup('2001:0DB8:1:2::9')).toBe('2001:db8:1:2::/64')
  expect(addressGroup('::1')).toBe('0:0:0:0::/64')
  expect(addressGroup('fe80::1%eth0')).toBe('fe80:0:0:0::/64')
})

test('IP addresses are distinguished from similar texts', () => {
  for (const text of ['192.0.2.1', '0.0.0.0', '255.255.255.255']) expect(ipVersion(text)).toBe(4)
  for (const text of [
    '::',
    '::1',
    '2001:db8::1',
    '1:2:3:4:5:6:7:8',
    '::ffff:192.0.2.1',
    'fe80::1%eth0',
  ])
    expect(ipVersion(text)).toBe(6)
  const none = ['', 'a', '1.2.3', '1.2.3.4.', '1.2.3.4.5', '256.1.1.1', '01.2.3.4', '0x1.2.3.4']
  const none6 = [
    ':',
    '1:',
    ':1',
    '1::2:',
    '1::2::3',
    '12345::',
    '::g',
    '::1]',
    '[::1]',
    '::1/64',
    '%',
  ]
  for (const text of [...none, ...none6]) expect(ipVersion(text)).toBe(0)
})

test.each([
  ['198.51.100.7', '198.51.100.0/24'],
  ['2001:db8:1:1ff::1', '2001:db8:1:0100::/56'],
  ['2001:db8:1:2::1', '2001:db8:1:0000::/56'],
  ['::1', '0:0:0:0000::/56'],
  ['this process', 'this process'],
])('the network of %s', (address, network) => {
  expect(addressPrefix(address)).toBe(network)
})
