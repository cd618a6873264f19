package iceberglite.spark

import scala.collection.mutable

import org.apache.logging.log4j.core.appender.AbstractAppender
import org.apache.logging.log4j.core.config.{LoggerConfig, Property}
import org.apache.logging.log4j.core.layout.PatternLayout
import org.apache.logging.log4j.core.{LogEvent, LoggerContext}
import org.apache.logging.log4j.{Level, LogManager}

/** Collects the warnings of a logger. */
object LoggedWarnings {

  /** Runs the body, and returns the warnings that a logger has logged in the meantime. */
  def of(logger: String)(body: => Unit): Seq[String] = {
    val context = LogManager.getContext(false).asInstanceOf[LoggerContext]
    val logged = mutable.Buffer[String]()
    val layout = PatternLayout.createDefaultLayout()
    val appender = new AbstractAppender(logger, null, layout, true, Property.EMPTY_ARRAY) {
      override def append(event: LogEvent): Unit = logged.synchronized {
        logged += event.getMessage.getFormattedMessage
        ()
      }
    }
    appender.start()
    val config = new LoggerConfig(logger, Level.WARN, false)
    config.addAppender(appender, Level.WARN, null)
    context.getConfiguration.addLogger(logger, config)
    context.updateLoggers()
    try body
    finally {
      context.getConfiguration.removeLogger(logger)
      context.updateLoggers()
    }
    logged.synchronized(logged.toVector)
  }
}
