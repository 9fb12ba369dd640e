import { customResourceDefinitions } from '../../shared/api/crds/definitions.ts';
import {
  FUNCTION_NAMES,
  type FunctionName,
  functionName,
  kubernetesGroup,
  OPTIONAL_FUNCTIONS,
  SHADOW_FUNCTIONS,
} from '../../shared/contract.ts';
import { compareDefinitions } from '../../shared/kube/definition-fields.ts';
import { aliveMs } from '../release/alive.ts';
import { skewText } from '../version/skew.ts';
import { type Facts, isDeployed, isShadow, type Kubernetes } from './facts.ts';
import { fail, judged, type Line, ok, warn } from './line.ts';

/** What `cdk deploy` brings, and whether it is at work. */
export function checkStack(facts: Facts): readonly Line[] {
  return [
    ...checkFunctions(facts),
    ...checkIdentities(facts),
    ...checkKubernetes(facts),
    ...checkPrices(facts),
  ];
}

function checkKubernetes(facts: Facts): readonly Line[] {
  const { kubernetes } = facts;
  if (!kubernetes.ok) {
    const advice = 'name a --kubeconfig or --context that is let in, or give the caller an entry';
    return [warn('kubernetes', `not checked: ${kubernetes.why}`, advice)];
  }
  const { value } = kubernetes;
  return [
    ok('kubernetes', `the API server answers: ${value.version}`),
    ...checkDefinitions(facts, value),
    checkRights(facts, value),
    ...checkAtWork(facts, value),
    checkKarpenter(facts, value),
    ...checkPauses(value),
  ];
}

function deployCommand(facts: Facts): string {
  const { cluster, region } = facts.asked;
  const shadow = isShadow(facts) ? ' -c shadow=true' : '';
  return `npx cdk deploy -c cluster=${cluster} -c region=${region}${shadow}`;
}

/** The functions without which a stack is not whole; with reaction=tick there is no watch. */
function neededFunctions(facts: Facts): readonly FunctionName[] {
  if (isShadow(facts)) return [...SHADOW_FUNCTIONS];
  return FUNCTION_NAMES.filter((name) => name !== 'watch' && !OPTIONAL_FUNCTIONS.has(name));
}

function checkFunctions(facts: Facts): readonly Line[] {
  const { functions } = facts;
  return judged('stack', functions, (found): Line | readonly Line[] => {
    const deploy = deployCommand(facts);
    if (found.length === 0) return warn('stack', 'not deployed', deploy);
    const missing = neededFunctions(facts).filter(
      (name) => !found.some((each) => each.name === name),
    );
    if (missing.length > 0) {
      return fail('stack', `functions are missing: ${missing.join(', ')}`, deploy);
    }
    const idle = found.filter(({ state }) => state !== 'Active' && state !== 'Inactive');
    if (idle.length > 0) {
      const said = idle.map(({ name, state }) => `${name} is ${state}`).join(', ');
      return fail('stack', said, 'look at the function in the console of Lambda');
    }
    const versions = [...new Set(found.map(({ version }) => version))];
    const kind = isShadow(facts) ? ', which record and never act' : '';
    return [
      ok('stack', `${found.length} functions of version ${versions.join(', ')}${kind}`),
      checkVersions(facts, versions.toSorted()),
    ];
  });
}

/** The command beside the functions, by the rules of docs/operate/upgrade.md. */
function checkVersions({ command }: Facts, versions: readonly string[]): Line {
  const [first = ''] = versions;
  if (versions.length > 1) {
    const message = `the functions are of several versions: ${versions.join(', ')}`;
    return warn('versions', message, 'wait for the deployment to end, or deploy again');
  }
  const said = skewText(command, first);
  if (said === undefined) return ok('versions', `the command and the functions are ${first}`);
  return warn('versions', said, "use the command of the functions' version, or deploy the stack");
}

/** Each in its own group and in no other; none with a policy of EKS, now that it is deployed. */
function checkIdentities(facts: Facts): readonly Line[] {
  if (!isDeployed(facts)) return [];
  const { cluster, region } = facts.asked;
  return judged('identities', facts.identities, (found) => {
    const wrong = found.filter(
      ({ name, groups }) => groups.length !== 1 || groups[0] !== kubernetesGroup(name),
    );
    const said = wrong.map(({ name, groups }) => {
      return `${name} is in ${groups.join(', ') || 'no group'}, not in ${kubernetesGroup(name)}`;
    });
    const admins = found.flatMap(({ name, principalArn, policyArns }) =>
      policyArns.map((policyArn) =>
        warn(
          'identities',
          `${name} has ${policyArn.split('/').at(-1)}, as while a deployment lasts`,
          `aws eks disassociate-access-policy --cluster-name ${cluster} --region ${region} ` +
            `--principal-arn ${principalArn} --policy-arn ${policyArn}`,
        ),
      ),
    );
    const groups =
      said.length > 0
        ? fail('identities', said.join(', '), deployCommand(facts))
        : ok('identities', `${found.length} functions with groups of their own`);
    return [groups, ...admins];
  });
}

/** Ours beside those of the cluster, as the installer compares them. */
function checkDefinitions(facts: Facts, { definitions }: Kubernetes): readonly Line[] {
  if (isShadow(facts)) return checkKarpentersDefinitions(definitions);
  const deploy = deployCommand(facts);
  return customResourceDefinitions().map((ours): Line => {
    const { name } = ours.metadata;
    const check = 'definition';
    const theirs = definitions.get(name);
    if (theirs === undefined) {
      const message = `${name} is not installed`;
      return isDeployed(facts) ? fail(check, message, deploy) : warn(check, message, deploy);
    }
    const { missing, extra } = compareDefinitions(ours, theirs);
    if (missing.length === 0) {
      return ok(check, extra.length === 0 ? `${name} is ours` : `${name} is newer than ours`);
    }
    const lacks = `${name} lacks ${some(missing)}`;
    if (extra.length === 0) {
      const message = `${lacks}: the API server drops their values`;
      return isDeployed(facts) ? fail(check, message, deploy) : warn(check, message, deploy);
    }
    return fail(
      check,
      `${lacks}, and has ${some(extra)}, which Joiner does not know`,
      'bring it to the newest version of its owner; the installer refuses it as it is',
    );
  });
}

/** Of these a cluster that Karpenter runs has three at least; it can do without the others. */
const KARPENTERS = ['nodepools', 'nodeclaims', 'ec2nodeclasses'];

function checkKarpentersDefinitions(definitions: Kubernetes['definitions']): readonly Line[] {
  const names = customResourceDefinitions().map(({ metadata }) => metadata.name);
  const needed = names.filter((name) => KARPENTERS.some((kind) => name.startsWith(`${kind}.`)));
  const missing = needed.filter((name) => !definitions.has(name));
  if (missing.length === 0) return [ok('definition', "Karpenter's, which the stack leaves alone")];
  const message = `${missing.join(', ')} not installed: there is nothing to plan for`;
  return [fail('definition', message, 'install Karpenter, or deploy with shadow=false')];
}

function logsOf({ asked }: Facts, name: FunctionName, since: string): string {
  const { cluster, region } = asked;
  return `aws logs tail /aws/lambda/${functionName(cluster, name)} --region ${region} --since ${since}`;
}

function some(fields: readonly string[]): string {
  const shown = fields.slice(0, 3).join(', ');
  return fields.length > 3 ? `${shown} and ${fields.length - 3} more` : shown;
}

/** In words such as `ClusterRole joiner:shadow`. */
function isNeededRight(facts: Facts, object: string): boolean {
  const groups = [...SHADOW_FUNCTIONS].map(kubernetesGroup);
  return !isShadow(facts) || groups.some((group) => object.endsWith(` ${group}`));
}

function checkRights(facts: Facts, { rights: all }: Kubernetes): Line {
  const rights = all.filter(({ object }) => isNeededRight(facts, object));
  const wrong = rights.filter(({ state }) => state !== 'same');
  if (wrong.length === 0) return ok('rights', `${rights.length} objects as ours`);
  const said = wrong.map(({ object, state }) => `${object} is ${state}`).join(', ');
  // A deployment applies them only where the version is another one.
  const apply =
    'joiner export manifests && kubectl apply --server-side --force-conflicts ' +
    '-f joiner-manifests/rbac -f joiner-manifests/flow-control';
  return isDeployed(facts)
    ? fail('rights', said, apply)
    : warn('rights', said, deployCommand(facts));
}

/** `nodeclass` runs every five minutes: as long as its alarm waits. */
const NODECLASS_MS = 15 * 60_000;

/** `provision` shares its Lease with `disrupt`: each says on it when it took it. */
const AT_WORK = [
  ['provision', 'joiner-decide', aliveMs('Joiner')],
  ['disrupt', 'joiner-decide', aliveMs('Joiner')],
  ['lifecycle', 'joiner-lifecycle', aliveMs('Joiner')],
  ['nodeclass', 'joiner-nodeclass', NODECLASS_MS],
] as const satisfies readonly (readonly [FunctionName, string, number])[];

/** Leases tell when a function last had the cluster, and how old that may be. */
function checkAtWork(facts: Facts, { signs, nowMs }: Kubernetes): readonly Line[] {
  if (!isDeployed(facts) || isShadow(facts)) return [];
  return AT_WORK.map(([name, own, ageMsMax]): Line => {
    const sign = signs.find(({ lease }) => lease === `kube-system/${own}`);
    const advice = logsOf(facts, name, '20m');
    // One that says of nobody who took it is of an older version.
    const atMs = sign?.takenBy.size === 0 ? sign.atMs : sign?.takenBy.get(name);
    if (atMs === undefined) return fail('at work', `${name} has never taken its Lease`, advice);
    const seconds = Math.max(0, Math.round((nowMs - atMs) / 1000));
    const message = `${name} took its Lease ${seconds} s ago`;
    return nowMs - atMs < ageMsMax ? ok('at work', message) : fail('at work', message, advice);
  });
}

function isHeld({ holder }: Kubernetes['signs'][number]): boolean {
  return holder !== undefined;
}

function checkKarpenter(facts: Facts, { signs, nowMs }: Kubernetes): Line {
  // As the functions see it: the newest renewal counts, in whatever namespace somebody holds it.
  const [sign] = signs
    .filter(({ who }) => who === 'Karpenter')
    .toSorted((a, b) => Number(isHeld(b)) - Number(isHeld(a)) || b.atMs - a.atMs);
  const isActive = sign !== undefined && isHeld(sign) && nowMs - sign.atMs < aliveMs('Karpenter');
  if (isShadow(facts)) {
    if (isActive) return ok('karpenter', 'is active: what it does is recorded beside the plans');
    return warn('karpenter', 'not active: nothing stands beside the plans', 'start Karpenter');
  }
  if (sign === undefined) return ok('karpenter', 'not installed, or never elected');
  if (!isActive) return ok('karpenter', `not active: the Lease ${sign.lease} is not renewed`);
  return warn(
    'karpenter',
    `is active: while ${sign.holder} renews the Lease ${sign.lease}, Joiner only reads`,
    'scale its Deployment to 0 when Joiner is to take over; where Karpenter is not installed, ' +
      'somebody else renews this Lease: delete it, and see who may write Leases in its namespace',
  );
}

function checkPauses({ paused, nowMs }: Kubernetes): readonly Line[] {
  const on = Object.entries(paused).filter(([, untilMs]) => untilMs > nowMs);
  if (on.length === 0) return [ok('pauses', 'off')];
  const names = on.map(([scope]) => scope).join(', ');
  const advice = 'joiner resume';
  return [warn('pauses', `paused: ${names}`, advice)];
}

const STALE_MS = 2 * 24 * 3_600_000;

function checkPrices(facts: Facts): readonly Line[] {
  const { asked, catalogAtMs, nowMs } = facts;
  if (!isDeployed(facts)) {
    if (asked.hasEmbeddedCatalog) return [];
    const message = `${asked.region} has no embedded prices: launches wait for the first catalog`;
    return [ok('prices', `${message}, which comes within minutes of the deployment`)];
  }
  return judged('prices', catalogAtMs, (atMs): Line => {
    const advice = logsOf(facts, 'catalog', '1d');
    if (atMs === undefined) {
      const message = 'no catalog in the bucket';
      return asked.hasEmbeddedCatalog
        ? warn('prices', `${message}: the embedded prices are used`, advice)
        : fail('prices', `${message}, and none is embedded for ${asked.region}`, advice);
    }
    const hours = Math.round((nowMs - atMs) / 360_000) / 10;
    const message = `read ${hours} hours ago`;
    return nowMs - atMs > STALE_MS ? warn('prices', message, advice) : ok('prices', message);
  });
}
