import { BlockList, isIP } from 'node:net';

/** The variables of a process. */
type Environment = Readonly<Record<string, string | undefined>>;

const LOOPBACK = ['127.0.0.0/8', '::1/128'];

/**
 * The proxy that kubectl takes where the kubeconfig names none; undefined: none. The rules are
 * those of Go: https://pkg.go.dev/golang.org/x/net/http/httpproxy#Config
 */
export function proxyOf({ protocol, hostname, port }: URL, env: Environment): string | undefined {
  const scheme = protocol.replace(':', '');
  const proxy = env[`${scheme}_proxy`.toUpperCase()] || env[`${scheme}_proxy`];
  if (!proxy) return undefined;
  const host = hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  if (host === 'localhost' || LOOPBACK.some((range) => isWithin(host, range))) return undefined;
  const own = port || (scheme === 'http' ? '80' : '443');
  const without = (env['NO_PROXY'] || env['no_proxy'] || '').toLowerCase().split(',');
  if (without.some((each) => isNamed(host, own, each.trim()))) return undefined;
  return proxy.includes('://') ? proxy : `http://${proxy}`;
}

/** Whether an entry of NO_PROXY names the host: `*`, a range, an address, or a domain. */
function isNamed(host: string, port: string, entry: string): boolean {
  if (entry === '') return false;
  if (entry === '*' || isWithin(host, entry)) return true;
  const [, name = entry, wanted = port] =
    /^\[?(.*?)\]?:(\d+)$/.exec(isIP(entry) ? '' : entry) ?? [];
  if (wanted !== port) return false;
  const domain = name.replace(/^\*\./, '.');
  if (domain.startsWith('.')) return host.endsWith(domain);
  return host === domain || (isIP(host) === 0 && host.endsWith(`.${domain}`));
}

function isWithin(host: string, range: string): boolean {
  const [network = '', bits = ''] = range.split('/');
  const family = isIP(host);
  if (family === 0 || isIP(network) !== family || !/^\d{1,3}$/.test(bits)) return false;
  if (Number(bits) > (family === 4 ? 32 : 128)) return false;
  const type = family === 4 ? 'ipv4' : 'ipv6';
  const list = new BlockList();
  list.addSubnet(network, Number(bits), type);
  return list.check(host, type);
}
