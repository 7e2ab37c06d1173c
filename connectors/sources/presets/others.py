"""Queues in front of workers, and the GPUs below them.

Names: the README of kafka_exporter, the metrics reference of rabbitmq_prometheus, YACE's names for CloudWatch, dcgm-exporter's default
counters. A queue's depth is its backlog, and what is in work is its concurrency.
"""

from connectors.sources.presets.preset import Preset, Renamed, Role, Spelling
from connectors.sources.presets.quantity import Counted, Quantity

_OTHER_STATISTIC = "where the exporter was told to export that statistic"

SQS = Preset(
    name="sqs",
    title="Amazon SQS through YACE",
    role=Role.QUEUE,
    presence="aws_sqs_approximate_number_of_messages_visible_maximum{}",
    identity=("dimension_QueueName",),
    labels=("dimension_queue_name", "queue_name", "region", "account_id", "name"),
    metrics={
        Quantity.CONCURRENCY: "max(aws_sqs_approximate_number_of_messages_not_visible_maximum{})",
        Quantity.QUEUE_DEPTH: "max(aws_sqs_approximate_number_of_messages_visible_maximum{})",
    },
    renamed=(
        Renamed(new="*_maximum", old="*_average", when=_OTHER_STATISTIC),
        Renamed(new="*_average", old="*_sum", when=_OTHER_STATISTIC),
    ),
    notes=("several exporters tell of the same queue: the largest counts, so match one queue",),
)
SQS_CLOUDWATCH = Preset(
    name="sqs-cloudwatch",
    title="Amazon SQS, asked of CloudWatch itself",
    source="cloudwatch",
    role=Role.QUEUE,
    presence="metric(AWS/SQS ApproximateNumberOfMessagesVisible Maximum {})",
    identity=("QueueName",),
    counted=Counted.ARRIVALS,
    metrics={
        Quantity.RPM: "metric(AWS/SQS NumberOfMessagesSent Sum {})",
        Quantity.CONCURRENCY: "metric(AWS/SQS ApproximateNumberOfMessagesNotVisible Maximum {})",
        Quantity.QUEUE_DEPTH: "metric(AWS/SQS ApproximateNumberOfMessagesVisible Maximum {})",
    },
    notes=("CloudWatch tells nothing of a queue that was idle for 6 hours: unknown, not 0",),
)
KAFKA_LAG = Preset(
    name="kafka-lag",
    title="Kafka through kafka_exporter",
    role=Role.QUEUE,
    presence="kafka_consumergroup_lag{}",
    identity=("consumergroup", "topic"),
    labels=("partition",),
    counted=Counted.ARRIVALS,
    metrics={
        Quantity.RPM: "sum(max by (topic, partition) (rate(kafka_topic_partition_current_offset{}[2m])))",
        Quantity.QUEUE_DEPTH: "sum(max by (consumergroup, topic, partition) (kafka_consumergroup_lag{}))",
    },
    spellings=(Spelling(metric="kafka_topic_", label="consumergroup", instead=""),),
    notes=("every exporter tells of the whole cluster: the largest of each partition counts", "rpm needs the topic to be matched"),
)
RABBITMQ = Preset(
    name="rabbitmq",
    title="RabbitMQ, /metrics/detailed or /metrics/per-object",
    role=Role.QUEUE,
    presence="rabbitmq_detailed_queue_messages_ready{}",
    identity=("vhost", "queue"),
    counted=Counted.ARRIVALS,
    metrics={
        Quantity.RPM: "sum(rate(rabbitmq_detailed_queue_messages_published_total{}[2m]))",
        Quantity.CONCURRENCY: "sum(rabbitmq_detailed_queue_messages_unacked{})",
        Quantity.QUEUE_DEPTH: "sum(rabbitmq_detailed_queue_messages_ready{})",
    },
    renamed=(Renamed(new="rabbitmq_detailed_queue_", old="rabbitmq_queue_", when="at /metrics/per-object"),),
    spellings=(Spelling(metric="rabbitmq_detailed_queue_messages_published", label="vhost", instead="queue_vhost"),),
    notes=("rpm needs the family channel_queue_exchange_metrics",),
)
DCGM = Preset(
    name="dcgm",
    title="NVIDIA GPUs through dcgm-exporter",
    role=Role.HARDWARE,
    presence="DCGM_FI_DEV_GPU_UTIL{}",
    identity=("namespace", "pod"),
    labels=("Hostname", "gpu", "UUID", "modelName"),
    metrics={
        Quantity.GPU: "avg(DCGM_FI_DEV_GPU_UTIL{}) / 100",
        Quantity.GPU_MEMORY: "sum(DCGM_FI_DEV_FB_USED{}) / (sum(DCGM_FI_DEV_FB_USED{}) + sum(DCGM_FI_DEV_FB_FREE{}))",
    },
    clashing=("namespace", "pod"),
    notes=(
        "beside an engine's preset it tells of that engine's pods only",
        "the pod is the one that uses the GPU, also where scraping has moved it to exported_pod",
    ),
)
