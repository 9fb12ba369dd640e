/** How a field of the kubelet's configuration is written. */
export type FieldShape = 'flag' | 'integer' | 'number' | 'text' | 'list' | 'map';

const NAMES: Readonly<Record<FieldShape, string>> = {
  flag: `cgroupsPerQOS cpuCFSQuota enableContentionProfiling enableControllerAttachDetach
    enableDebugFlagsHandler enableDebuggingHandlers enableProfilingHandler enableServer
    enableSystemLogHandler enableSystemLogQuery failCgroupV1 failSwapOn kernelMemcgNotification
    localStorageCapacityIsolation makeIPTablesUtilChains mergeDefaultEvictionSettings
    protectKernelDefaults registerNode rotateCertificates runOnce seccompDefault
    serializeImagePulls serverTLSBootstrap singleProcessOOMKill`,
  integer: `containerLogMaxFiles containerLogMaxWorkers eventBurst eventRecordQPS
    evictionMaxPodGracePeriod healthzPort imageGCHighThresholdPercent imageGCLowThresholdPercent
    iptablesDropBit iptablesMasqueradeBit kubeAPIBurst kubeAPIQPS maxOpenFiles
    maxParallelImagePulls maxPods nodeLeaseDurationSeconds nodeStatusMaxImages oomScoreAdj
    podPidsLimit podsPerCore port readOnlyPort registryBurst registryPullQPS`,
  number: 'memoryThrottlingFactor',
  text: `address apiVersion cgroupDriver cgroupRoot clusterDomain
    configMapAndSecretChangeDetectionStrategy containerLogMaxSize containerLogMonitorInterval
    containerRuntimeEndpoint contentType cpuCFSQuotaPeriod cpuManagerPolicy
    cpuManagerReconcilePeriod evictionPressureTransitionPeriod fileCheckFrequency hairpinMode
    healthzBindAddress httpCheckFrequency imageMaximumGCAge imageMinimumGCAge
    imagePullCredentialsVerificationPolicy imageServiceEndpoint kind kubeReservedCgroup
    kubeletCgroups memoryManagerPolicy memoryReservationPolicy nodeStatusReportFrequency
    nodeStatusUpdateFrequency podCIDR podLogsDir providerID reservedSystemCPUs resolvConf
    runtimeRequestTimeout showHiddenMetricsForVersion shutdownGracePeriod
    shutdownGracePeriodCriticalPods staticPodPath staticPodURL streamingConnectionIdleTimeout
    syncFrequency systemCgroups systemReservedCgroup tlsCertFile tlsMinVersion tlsPrivateKeyFile
    topologyManagerPolicy topologyManagerScope volumePluginDir volumeStatsAggPeriod`,
  list: `allowedUnsafeSysctls clusterDNS enforceNodeAllocatable
    preloadedImagesVerificationAllowlist registerWithTaints reservedMemory
    shutdownGracePeriodByPodPriority tlsCipherSuites tlsCurvePreferences`,
  map: `authentication authorization cpuManagerPolicyOptions crashLoopBackOff defaultPodSysctls
    evictionHard evictionMinimumReclaim evictionSoft evictionSoftGracePeriod featureGates
    kubeReserved logging memorySwap qosReserved staticPodURLHeader systemReserved
    topologyManagerPolicyOptions tracing userNamespaces`,
};

/**
 * The fields of KubeletConfiguration (kubelet.config.k8s.io/v1beta1) in Kubernetes 1.37.
 * https://kubernetes.io/docs/reference/config-api/kubelet-config.v1beta1/
 */
export const KUBELET_FIELDS: ReadonlyMap<string, FieldShape> = new Map(
  (['flag', 'integer', 'number', 'text', 'list', 'map'] as const).flatMap((shape) =>
    NAMES[shape].split(/\s+/).map((name) => [name, shape] as const),
  ),
);

/** What a value of the shape is, for people. */
export const SHAPE_TEXTS: Readonly<Record<FieldShape, string>> = {
  flag: 'true or false',
  integer: 'a whole number',
  number: 'a number',
  text: 'a text',
  list: 'a list',
  map: 'a map',
};

export function hasShape(value: unknown, shape: FieldShape): boolean {
  switch (shape) {
    case 'flag':
      return typeof value === 'boolean';
    case 'integer':
      return Number.isInteger(value);
    case 'number':
      return typeof value === 'number';
    case 'text':
      return typeof value === 'string';
    case 'list':
      return Array.isArray(value);
    case 'map':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
  }
}
