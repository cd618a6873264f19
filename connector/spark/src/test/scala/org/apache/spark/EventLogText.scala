package org.apache.spark

import org.apache.spark.scheduler.SparkListenerEvent
import org.apache.spark.util.JsonProtocol

/** Gives access to the text of Spark's event log, which is private to Spark. */
object EventLogText {
  def of(event: SparkListenerEvent): String = JsonProtocol.sparkEventToJsonString(event)

  /** Waits until all listeners have got all events. */
  def await(context: SparkContext): Unit = context.listenerBus.waitUntilEmpty()
}
