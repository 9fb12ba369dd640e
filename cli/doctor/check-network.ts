import { pageUrl } from '../../shared/contract/pages.ts';
import { NEEDED_INSIDE, NOT_NEEDED_INSIDE, SERVICES, type Service } from './endpoints.ts';
import type { ClassFacts, Facts, Network } from './facts.ts';
import { fail, judged, type Line, ok, warn } from './line.ts';

/** Whether AWS can be reached, from here and from where the functions are. */
export function checkNetwork(facts: Facts): readonly Line[] {
  return [...checkReaches(facts), ...checkInside(facts), ...facts.classes.flatMap(checkClass)];
}

export function checkReaches(facts: Facts): readonly Line[] {
  return SERVICES.map((service) => checkReach(facts, service));
}

/** From this machine; it says something of the functions only where they are as well. */
function checkReach({ asked, reach }: Facts, service: Service): Line {
  const check = `reach ${service}`;
  const found = reach[service];
  if (found.ok) return ok(check, 'answers');
  const unneeded = NOT_NEEDED_INSIDE[service];
  if (asked.isInside && unneeded !== undefined) {
    return ok(check, `no answer, and not needed from inside: ${unneeded}`);
  }
  const without = NEEDED_INSIDE[service];
  if (asked.isInside && without !== undefined) {
    return fail(check, `no answer (${found.why}): ${without}`, advice(service));
  }
  return warn(
    check,
    `no answer from this machine: ${found.why}`,
    'run joiner doctor --inside from a subnet of the functions to know for them',
  );
}

const PRIVATE = pageUrl('private-clusters.md');

function advice(service: Service): string {
  if (service === 'iam') return `a NAT gateway, or -c isolatedVpc=true (${PRIVATE})`;
  const kind = service === 's3' ? 'a gateway endpoint' : 'an interface endpoint';
  return `${kind} of ${service} with private DNS, or a NAT gateway (${PRIVATE})`;
}

/** Only where the functions are or will be in the VPC. */
function checkInside(facts: Facts): readonly Line[] {
  if (!isPrivate(facts)) return [];
  return judged('way out', facts.network, (network) =>
    Object.keys(NEEDED_INSIDE)
      .filter(isService)
      .map((service) => wayTo(network, service)),
  );
}

function isService(name: string): name is Service {
  return SERVICES.some((each) => each === name);
}

/** Functions in the VPC, or a cluster that leaves them no other place. */
export function isPrivate({ cluster, functions }: Pick<Facts, 'cluster' | 'functions'>): boolean {
  const deployed = functions.ok ? functions.value : [];
  if (deployed.length > 0) return deployed.some(({ subnetIds }) => subnetIds.length > 0);
  return cluster.ok && cluster.value !== undefined && !cluster.value.isPublic;
}

function wayTo(network: Network, service: Service): Line {
  const check = `way to ${service}`;
  const endpoint = network.endpoints.find((each) => each.service === service);
  if (endpoint?.hasPrivateDns === true) return ok(check, 'an endpoint in the VPC');
  const cut = network.subnetIds.filter((id) => !network.routedSubnetIds.includes(id));
  if (cut.length === 0) return ok(check, 'a route out of every subnet');
  const message =
    endpoint === undefined
      ? `no endpoint in the VPC, and no route out of ${cut.join(', ')}`
      : `the endpoint in the VPC has no private DNS, and no route out of ${cut.join(', ')}`;
  const line = service === 'events' || service === 'ssm' ? warn : fail;
  return line(check, `${message}: ${NEEDED_INSIDE[service] ?? ''}`, advice(service));
}

/** Fewer free addresses than this are a few nodes. */
const ADDRESSES_MIN = 64;

/** What the selectors of a class find; without it nothing is launched from it. */
function checkClass({ nodeClass, subnets, securityGroups }: ClassFacts): readonly Line[] {
  const of = `of the EC2NodeClass ${nodeClass.name}`;
  return [
    ...judged('subnets', subnets, (found): Line => {
      if (found.length === 0) {
        const tags = wanted(nodeClass.subnetSelectorTerms);
        return fail('subnets', `${of}: none found by ${tags}`, 'tag them, or change the selector');
      }
      const zones = new Set(found.map(({ zone }) => zone)).size;
      const free = found.reduce((sum, { freeAddresses }) => sum + freeAddresses, 0);
      const message = `${of}: ${found.length} in ${zones} zones with ${free} free addresses`;
      if (free === 0) return fail('subnets', message, 'larger subnets, or a second range');
      if (free < ADDRESSES_MIN)
        return warn('subnets', message, 'larger subnets, or a second range');
      if (zones === 1) return warn('subnets', message, 'select subnets of more zones');
      return ok('subnets', message);
    }),
    ...judged('security groups', securityGroups, (found): Line => {
      if (found.length > 0) return ok('security groups', `${of}: ${found.length}`);
      const tags = wanted(nodeClass.securityGroupSelectorTerms);
      const message = `${of}: none found by ${tags}`;
      return fail('security groups', message, 'tag them, or change the selector');
    }),
  ];
}

function wanted(terms: readonly object[]): string {
  return JSON.stringify(terms);
}
