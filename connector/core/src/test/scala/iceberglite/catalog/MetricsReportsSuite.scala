package iceberglite.catalog

import java.util
import java.util.concurrent.{ConcurrentLinkedQueue, CountDownLatch, LinkedBlockingQueue, TimeUnit}

import scala.collection.JavaConverters._

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.catalog.rest.StubServer._
import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.expr.Expression._
import iceberglite.spec.geo.BoundingBox
import iceberglite.spec.expr.Term
import iceberglite.spec.json.JsonValue
import iceberglite.spec.partition.Bucket
import iceberglite.spec.rest.{Metric, MetricsReport, MetricsReportJson}
import iceberglite.spec.types.Literal.{IntLiteral, StringLiteral}
import iceberglite.table.{MemoryFileIO, MetricsReporter, TableIdentifier}

/** A reporter for tests, which collects the reports of all its instances. */
final class CollectingReporter extends MetricsReporter {
  override def initialize(properties: util.Map[String, String]): Unit = {
    CollectingReporter.configured.add(properties.get("warehouse"))
    ()
  }

  override def report(report: MetricsReport): Unit = CollectingReporter.reports.put(report)
}

object CollectingReporter {
  val configured = new ConcurrentLinkedQueue[String]
  private val reports = new LinkedBlockingQueue[MetricsReport]
  private val MaxWaitSeconds = 60L

  /** Waits for the next report about a table. Earlier reports about other tables are discarded. */
  def next(table: String): MetricsReport =
    Iterator.continually(Option(reports.poll(MaxWaitSeconds, TimeUnit.SECONDS))
      .getOrElse(throw new IllegalStateException(s"No report about $table"))).find(_.table == table).get
}

/** A class with a method `report` that does not implement [[MetricsReporter]]. */
final class OtherReporter {
  def report(report: MetricsReport): String = report.table
}

/** A reporter whose constructor fails. */
final class UnfinishedReporter extends MetricsReporter {
  require(CollectingReporter.configured.contains("a connection"), "no connection")

  override def initialize(properties: util.Map[String, String]): Unit = ()
  override def report(report: MetricsReport): Unit = ()
}

/** Tests how the metrics of scans and commits reach their receivers. */
class MetricsReportsSuite extends AnyFunSuite {
  private val id = TableIdentifier(Vector("db"), "t")

  private def commit(snapshot: Long): MetricsReport =
    MetricsReport.OfCommit("lite.db.t", snapshot, 1, "append", Map("attempts" -> Metric.count(1)), Map.empty)

  test("a failure of one receiver does not affect the caller, other receivers and later reports") {
    val received = new ConcurrentLinkedQueue[Long]
    val failing: MetricsReports.Receiver = (_, _) => throw new IllegalStateException("out of order")
    val working: MetricsReports.Receiver = (_, report) => {
      received.add(report.snapshotId)
      ()
    }
    val incomplete: MetricsReports.Receiver = (_, _) => throw new NoClassDefFoundError("x/Missing")
    val reports = new MetricsReports("lite", Vector(failing, incomplete, working))
    (1L to 3L).foreach(i => reports.submit(id, commit(i)))
    reports.close()
    assert(received.asScala.toVector == Vector(1L, 2L, 3L))
    reports.submit(id, commit(4))
    assert(received.size == 3)
  }

  test("at most 100 reports wait for a busy receiver; more are dropped, so that the caller does not wait") {
    val release = new CountDownLatch(1)
    val received = new ConcurrentLinkedQueue[Long]
    val slow: MetricsReports.Receiver = (_, report) => {
      release.await()
      received.add(report.snapshotId)
      ()
    }
    val reports = new MetricsReports("lite", Vector(slow))
    (1L to 1000L).foreach(i => reports.submit(id, commit(i)))
    release.countDown()
    reports.close()
    assert(received.size >= 100 && received.size <= 101)
  }

  test("close interrupts a receiver that does not end") {
    val started = new CountDownLatch(1)
    val interrupted = new CountDownLatch(1)
    val stuck: MetricsReports.Receiver = (_, _) => {
      started.countDown()
      try new CountDownLatch(1).await()
      finally interrupted.countDown()
    }
    val reports = new MetricsReports("lite", Vector(stuck), closeSeconds = 0)
    reports.submit(id, commit(1))
    started.await()
    reports.close()
    assert(interrupted.await(60, TimeUnit.SECONDS))
  }

  test("an error while a report is created does not affect the caller, and later reports are delivered") {
    val received = new ConcurrentLinkedQueue[Long]
    val receiver: MetricsReports.Receiver = (_, report) => {
      received.add(report.snapshotId)
      ()
    }
    val reports = new MetricsReports("lite", Vector(receiver))
    reports.submit(id, throw new IllegalStateException("out of order"))
    reports.submit(id, throw new NoClassDefFoundError("x/Missing"))
    reports.submit(id, commit(3))
    reports.close()
    assert(received.asScala.toVector == Vector(3L))
  }

  test("without receivers no report is created") {
    new MetricsReports("lite", Vector.empty).submit(id, fail("created"))
  }

  test("metrics-reporter-impl must name a MetricsReporter or Apache Iceberg's LoggingMetricsReporter") {
    def open(className: String): Unit = Catalogs.open(
      "lite",
      Map("type" -> "hadoop", "warehouse" -> "mem://wh", "metrics-reporter-impl" -> className),
      new MemoryFileIO
    ).close()
    val invalid = Seq(
      "x.Missing",
      classOf[OtherReporter].getName,
      "org.apache.iceberg.metrics.InMemoryMetricsReporter",
      classOf[MetricsReporter].getName
    )
    for (className <- invalid) {
      val error = intercept[InvalidArgument](open(className))
      assert(error.name == "metrics-reporter-impl of catalog lite" && error.value == className)
      assert(error.reason.contains(classOf[MetricsReporter].getName))
    }
    val failed = intercept[InvalidArgument](open(classOf[UnfinishedReporter].getName))
    assert(failed.reason.contains("no connection") && failed.getSuppressed.length == 1)
    open("org.apache.iceberg.metrics.LoggingMetricsReporter")
    open(classOf[CollectingReporter].getName)
    assert(CollectingReporter.configured.contains("mem://wh"))
  }

  test("with reporting enabled, a REST catalog sends reports if its server lists the endpoint or no endpoints") {
    def linesWith(endpoints: Option[String], properties: (String, String)*): Vector[String] = withStub { stub =>
      endpoints.foreach(list => stub.on("GET /v1/config")(json(s"""{"endpoints":[$list]}""")))
      stub.on("POST")(answer(204))
      val catalog = stub.catalog(properties: _*)
      catalog.report(id, commit(7))
      catalog.close()
      stub.requests.filter(_.method == "POST").foreach { request =>
        val body = JsonValue.parse("report", request.body)
        assert(body.string("report-type") == "commit-report" && body.long("snapshot-id") == 7)
      }
      stub.lines
    }
    val enabled = "rest-metrics-reporting-enabled" -> "true"
    val sent = Vector("POST /v1/namespaces/db/tables/t/metrics")
    assert(linesWith(None, enabled) == sent)
    assert(linesWith(Some("\"POST /v1/{prefix}/namespaces/{namespace}/tables/{table}/metrics\""), enabled) == sent)
    assert(linesWith(Some("\"GET /v1/{prefix}/namespaces\""), enabled).isEmpty)
    assert(linesWith(None).isEmpty)
  }

  test("the JSON of a report contains the filter without the values of constants") {
    val column = Term.Named("c")
    val filter = And(
      Or(Equal(column, IntLiteral(4711)), In(column, Set(StringLiteral("secret"), StringLiteral("secret 2")))),
      And(
        And(StartsWith(column, "secret"), BoxIntersects(column, BoundingBox(4711, 4711, 4711, 4711))),
        Not(IsNull(Term.Transformed(Bucket(16), column)))
      )
    )
    val scan =
      MetricsReport.OfScan("lite.db.t", 1, filter, 2, Vector.empty, Map("time" -> Metric.timed(5)), Map("a" -> "b"))
    val text = new String(MetricsReportJson.bytes(scan), "UTF-8")
    assert(!text.contains("4711") && !text.contains("secret"))
    val json = JsonValue.parse("report", text)
    assert(json("filter").string("type") == "and" && json("filter")("left")("left").string("value") == "(int)")
    assert(json("filter")("right")("left")("right").string("type") == "not-null")
    assert("\\(string\\)".r.findAllIn(text).size == 2) // one for IN, and one for STARTS WITH
    assert(json("metrics")("time").string("time-unit") == "nanoseconds" && json("metadata").string("a") == "b")
  }
}
