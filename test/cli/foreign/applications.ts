/** Manifests of our own, of the shapes that well-known applications have. */

const shell = (name: string): string => `\${${name}}`;

/** A microservice: shell in a probe's command, a comment and a dashboard. */
export const SHOP = `# Rendered for ${shell('SKAFFOLD_PROFILE')}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: loadgenerator
  annotations:
    example.com/note: "set by ${shell('USER')}"
spec:
  replicas: 2
  selector:
    matchLabels: { app: loadgenerator }
  template:
    metadata:
      labels: { app: loadgenerator }
    spec:
      initContainers:
        - name: frontend-check
          image: example.com/busybox
          command: [/bin/sh, -exc]
          args:
            - |
              STATUS=$(wget -S "http://${shell('FRONTEND_ADDR')}" 2>&1)
              until test ${shell('STATUSCODE')} -eq 200; do sleep 1; done
      containers:
        - name: main
          image: example.com/loadgenerator
          args: ["--host=http://${shell('FRONTEND_ADDR')}", "--rate", "${shell('RATE')}"]
          resources:
            requests: { cpu: 300m, memory: 256Mi }
---
apiVersion: v1
kind: Service
metadata: { name: frontend }
spec: { ports: [{ port: 80 }] }
`;

/** A monitoring stack: dashboards in a ConfigMapList, rules with templates in texts, a DaemonSet. */
export const MONITORING = `apiVersion: v1
kind: ConfigMapList
items:
  - apiVersion: v1
    kind: ConfigMap
    metadata: { name: dashboard-nodes }
    data:
      nodes.json: '{"datasource": "${shell('datasource')}", "expr": "rate(x[${shell('interval')}])"}'
---
apiVersion: monitoring.example.com/v1
kind: PrometheusRule
metadata: { name: rules }
spec:
  groups:
    - rules:
        - annotations: { summary: "{{ $labels.instance }} is down, see ${shell('runbook')}" }
---
apiVersion: apps/v1
kind: DaemonSetList
items:
  - metadata: { name: node-exporter }
    spec:
      selector: { matchLabels: { app: node-exporter } }
      template:
        metadata: { labels: { app: node-exporter } }
        spec:
          containers:
            - name: node-exporter
              args: ["--path=${shell('ROOT')}"]
              resources: { requests: { cpu: 100m } }
`;

/** A delivery tool in high availability: a StatefulSet, and a shell script in a ConfigMap. */
export const DELIVERY = `apiVersion: v1
kind: ConfigMap
metadata: { name: redis-ha }
data:
  init.sh: |
    INDEX="${shell('HOSTNAME##*-')}"
    echo "${shell('AUTH')} on ${shell('SENTINEL_PORT')}"
---
apiVersion: apps/v1
kind: StatefulSet
metadata: { name: redis-ha }
spec:
  replicas: 3
  serviceName: redis-ha
  selector: { matchLabels: { app: redis-ha } }
  template:
    metadata:
      labels: { app: redis-ha }
      annotations: { checksum/init: "${shell('CHECKSUM')}" }
    spec:
      containers:
        - name: redis
          command: [sh, -c, "exec redis-server --port ${shell('PORT')}"]
          resources: { requests: { cpu: 200m, memory: 200Mi } }
`;

/** userData as people write it. */
export const USER_DATA = `  userData: |
    #!/bin/bash
    TOKEN=$(curl -X PUT http://169.254.169.254/latest/api/token)
    echo "${shell('TOKEN')}" ${shell('INSTANCE_ID')} > /etc/token
`;
