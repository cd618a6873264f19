package iceberglite.spark.encryption

import java.util.concurrent.ConcurrentLinkedQueue

import scala.collection.JavaConverters._

import org.apache.logging.log4j.core.appender.AbstractAppender
import org.apache.logging.log4j.core.config.Property
import org.apache.logging.log4j.core.layout.PatternLayout
import org.apache.logging.log4j.core.{LogEvent, LoggerContext}
import org.apache.logging.log4j.{Level, LogManager}
import org.apache.spark.EventLogText
import org.apache.spark.scheduler.{SparkListener, SparkListenerEvent}
import org.apache.spark.sql.SparkSession

/** Collects all texts of the log, from the level DEBUG on, and all lines of Spark's event log, while a body runs. */
final class VisibleTexts {
  private val texts = new ConcurrentLinkedQueue[(String, String)]

  def all: Vector[(String, String)] = texts.asScala.toVector

  def record(where: String, text: String): Unit = {
    texts.add(where -> text)
    ()
  }

  private val appender =
    new AbstractAppender(
      "visible texts",
      null,
      PatternLayout.newBuilder.withPattern("%c %m %throwable").build(),
      false,
      Property.EMPTY_ARRAY
    ) {
      override def append(event: LogEvent): Unit = record("log", getLayout.toSerializable(event).toString)
    }

  def during[A](session: SparkSession)(body: => A): A = {
    val listener = new SparkListener {
      override def onOtherEvent(event: SparkListenerEvent): Unit = record("event log", EventLogText.of(event))
      override def onJobStart(event: org.apache.spark.scheduler.SparkListenerJobStart): Unit = onOtherEvent(event)
      override def onStageCompleted(event: org.apache.spark.scheduler.SparkListenerStageCompleted): Unit =
        onOtherEvent(event)
      override def onTaskStart(event: org.apache.spark.scheduler.SparkListenerTaskStart): Unit = onOtherEvent(event)
      override def onTaskEnd(event: org.apache.spark.scheduler.SparkListenerTaskEnd): Unit = onOtherEvent(event)
    }
    val logging = LogManager.getContext(false).asInstanceOf[LoggerContext]
    val root = logging.getConfiguration.getRootLogger
    val level = root.getLevel
    appender.start()
    root.addAppender(appender, Level.DEBUG, null)
    root.setLevel(Level.DEBUG)
    logging.updateLoggers()
    session.sparkContext.addSparkListener(listener)
    try {
      val result = body
      EventLogText.await(session.sparkContext)
      result
    } finally {
      session.sparkContext.removeSparkListener(listener)
      root.removeAppender(appender.getName)
      root.setLevel(level)
      logging.updateLoggers()
      appender.stop()
    }
  }
}
