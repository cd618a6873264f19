package iceberglite.catalog

import java.lang.reflect.InvocationTargetException
import java.util.concurrent.{ArrayBlockingQueue, RejectedExecutionException, ThreadPoolExecutor, TimeUnit}
import java.util.concurrent.atomic.AtomicBoolean

import scala.collection.JavaConverters._
import scala.util.control.NonFatal

import org.slf4j.LoggerFactory

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.Redaction
import iceberglite.spec.rest.{MetricsReport, MetricsReportJson}
import iceberglite.table.{MetricsReporter, TableIdentifier}

/**
 * Passes the metrics of a catalog's scans and commits to their receivers, on a background thread. A slow or failing
 * receiver neither delays nor fails the operation: if the receivers are slow, reports are dropped. Reports that are not
 * delivered when the process ends are lost.
 *
 * @param receivers the functions that receive each report; if there are none, reports are not created
 * @param closeSeconds the time that `close` waits for the receivers
 */
final private[catalog] class MetricsReports(
    catalog: String,
    receivers: Vector[MetricsReports.Receiver],
    closeSeconds: Long = MetricsReports.CloseSeconds
) extends AutoCloseable {
  import MetricsReports._

  private val hasFailed = new AtomicBoolean
  private val hasDropped = new AtomicBoolean

  private lazy val executor = new ThreadPoolExecutor(
    0,
    1,
    IdleSeconds,
    TimeUnit.SECONDS,
    new ArrayBlockingQueue[Runnable](MaxWaiting),
    (task: Runnable) => {
      val thread = new Thread(task, s"iceberg-lite-metrics-$catalog")
      thread.setDaemon(true)
      thread
    }
  )

  /** Creates a report and queues it for delivery. Drops the report if its creation fails or the queue is full. */
  def submit(id: TableIdentifier, report: => MetricsReport): Unit = if (receivers.nonEmpty) {
    try {
      // The report is created before this method returns, because it may read values that the caller changes later.
      val created = report
      executor.execute(() => receivers.foreach(deliver(_, id, created)))
    } catch {
      case _: RejectedExecutionException =>
        if (!hasDropped.getAndSet(true))
          log.warn(s"Metrics reports of catalog $catalog are dropped, because their receivers are too slow")
      // `NonFatal` does not match the error of a missing class.
      case error @ (NonFatal(_) | _: LinkageError) => logFailure(s"${id.namespace.mkString(".")}.${id.name}", error)
    }
  }

  private def deliver(receiver: Receiver, id: TableIdentifier, report: MetricsReport): Unit =
    try receiver(id, report)
    catch {
      case _: InterruptedException => Thread.currentThread.interrupt()
      // Errors, for example a missing class, are caught too, because an uncaught error would end the thread.
      case error: Throwable => logFailure(report.table, error)
    }

  private def logFailure(table: String, error: Throwable): Unit = {
    val message = Redaction(s"Could not report metrics of $table: $error")
    if (hasFailed.getAndSet(true)) log.debug(message)
    else log.warn(s"$message. Further failures of this catalog are logged with level DEBUG")
  }

  /** Waits a limited time until the reports are delivered, and then interrupts the receivers. */
  override def close(): Unit = if (receivers.nonEmpty) {
    executor.shutdown()
    try executor.awaitTermination(closeSeconds, TimeUnit.SECONDS)
    finally {
      executor.shutdownNow()
      ()
    }
    ()
  }
}

private[catalog] object MetricsReports {
  type Receiver = (TableIdentifier, MetricsReport) => Unit

  private val log = LoggerFactory.getLogger("iceberglite.catalog.MetricsReports")

  /** The maximum number of reports that wait for delivery. */
  private val MaxWaiting = 100
  private val IdleSeconds = 10L
  private[catalog] val CloseSeconds = 10L

  private val IcebergPackage = "org.apache.iceberg."
  private val IcebergLogging = IcebergPackage + "metrics.LoggingMetricsReporter"

  /**
   * Returns the reporter that the catalog property `metrics-reporter-impl` names.
   *
   * @throws InvalidArgument if the class cannot be loaded, is not a [[MetricsReporter]], has no constructor without
   *   parameters, or has a constructor that fails
   */
  def reporter(catalog: String, properties: Map[String, String]): Option[MetricsReporter] =
    CatalogProperty.MetricsReporterImpl.in(properties).map { className =>
      val reporter = if (className == IcebergLogging) new LoggingMetricsReporter else load(catalog, className)
      reporter.initialize(properties.asJava)
      reporter
    }

  private def load(catalog: String, className: String): MetricsReporter = {
    def invalid(reason: String) =
      InvalidArgument(s"${CatalogProperty.MetricsReporterImpl.key} of catalog $catalog", className, reason)
    val contract = s"It must be a class that implements ${classOf[MetricsReporter].getName} and has a constructor " +
      "without parameters"
    if (className.startsWith(IcebergPackage)) throw invalid(s"$contract. Classes of Apache Iceberg are not loaded")
    val loader = Option(Thread.currentThread.getContextClassLoader).getOrElse(getClass.getClassLoader)
    try {
      // Code of the class must not run before it is known to be a reporter.
      val loaded = Class.forName(className, false, loader)
      if (!classOf[MetricsReporter].isAssignableFrom(loaded)) throw invalid(contract)
      loaded.asSubclass(classOf[MetricsReporter]).getDeclaredConstructor().newInstance()
    } catch {
      case error: InvocationTargetException =>
        val invalidConstructor = invalid(s"Its constructor failed: ${error.getCause}")
        invalidConstructor.addSuppressed(error.getCause)
        throw invalidConstructor
      case _: ReflectiveOperationException => throw invalid(contract)
      // A class that implements the interface of Apache Iceberg cannot be loaded without Apache Iceberg.
      case error: LinkageError => throw invalid(s"$contract. The class cannot be loaded: $error")
    }
  }
}

/** Writes reports to the log, in the JSON form of the REST protocol. */
final private[catalog] class LoggingMetricsReporter extends MetricsReporter {
  private val log = LoggerFactory.getLogger("iceberglite.catalog.LoggingMetricsReporter")

  override def initialize(properties: java.util.Map[String, String]): Unit = ()

  override def report(report: MetricsReport): Unit =
    log.info(new String(MetricsReportJson.bytes(report), java.nio.charset.StandardCharsets.UTF_8))
}
