import { BUCKET_LAYOUT } from '../../shared/contract.ts';
import { describeCluster, putWakeUps } from './parts.ts';
import type { PolicyScope, Statement } from './statement.ts';

/**
 * What it may do in the cluster comes with its access entry. From here it may only make less of
 * that: whoever could associate a policy could make itself the admin at any time.
 */
export function installPolicy(scope: PolicyScope): readonly Statement[] {
  return [describeCluster(scope), dropAccess(scope), putWakeUps(scope), ...removeData(scope)];
}

function dropAccess(scope: PolicyScope): Statement {
  const { partition, region, account, cluster, installRoleName } = scope;
  const entries = `arn:${partition}:eks:${region}:${account}:access-entry/${cluster}`;
  return {
    sid: 'DropAccess',
    why: "Gives back the admin's access that a deployment has lent to it; it cannot lend it again.",
    actions: ['eks:DisassociateAccessPolicy'],
    resources: [`${entries}/role/${account}/${installRoleName}/*`],
  };
}

/** When the stack goes: everything in a bucket of its own, its own part of a shared one. */
function removeData(scope: PolicyScope): readonly Statement[] {
  const own = BUCKET_LAYOUT.cluster(scope.cluster);
  const shared = BUCKET_LAYOUT.shared(scope.region);
  return [
    {
      sid: 'RemoveData',
      why: "Removes Joiner's memory of this cluster when the stack is deleted.",
      actions: ['s3:DeleteObject'],
      resources: scope.isBucketOwned
        ? [`${scope.bucketArn}/*`]
        : [
            `${scope.bucketArn}/${own}*`,
            `${scope.bucketArn}/${BUCKET_LAYOUT.sharedFile(scope.region, '*', scope.cluster)}`,
          ],
    },
    {
      sid: 'FindData',
      why: 'Finds what is to be removed.',
      actions: ['s3:ListBucket'],
      resources: [scope.bucketArn],
      ...(scope.isBucketOwned
        ? {}
        : { conditions: { StringLike: { 's3:prefix': [`${own}*`, `${shared}*`] } } }),
    },
  ];
}
