package iceberglite.catalog.rest

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path, Paths}

import org.apache.iceberg.rest.{Endpoint => PeerEndpoint}
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.SourceFiles

/**
 * Checks `docs/catalogs/rest-endpoints.md`: it lists every endpoint, states correctly whether the catalog calls it, and
 * names an existing suite for each endpoint that is called, and what happens instead for each other endpoint.
 */
class RestEndpointsPageSuite extends AnyFunSuite {

  /** @param cells the columns of the table, without the first one, which contains the endpoint */
  private case class Row(endpoint: String, cells: Vector[String]) {
    def isCalled: Boolean = cells.head.startsWith("yes")
    def suites: Vector[String] = """`(\w+Suite)`""".r.findAllMatchIn(cells.last).map(_.group(1)).toVector
  }

  private val page: Path = Paths.get("docs", "catalogs", "rest-endpoints.md")
  private val text: String = new String(Files.readAllBytes(page), UTF_8)
  private val tokens = "POST /v1/oauth/tokens"

  private val rows: Vector[Row] = text.split('\n').toVector.filter(_.startsWith("| `")).map { line =>
    val cells = line.stripPrefix("|").stripSuffix("|").split('|').toVector.map(_.trim)
    val endpoint = cells.head.split('`')(1).replace("{ns}", "/v1/{prefix}/namespaces/{namespace}")
    Row(endpoint, cells.tail)
  }

  private val suites: Map[String, String] = Seq("spec", "core", "spark")
    .flatMap(project => SourceFiles.in(s"$project/src/test"))
    .map(file => file.getFileName.toString.stripSuffix(".scala") -> new String(Files.readAllBytes(file), UTF_8)).toMap

  test("the page lists every endpoint once, and no other endpoint is called") {
    val endpoints = rows.map(_.endpoint)
    assert(endpoints.diff(endpoints.distinct).isEmpty)
    assert(rows.filter(_.isCalled).map(_.endpoint).toSet == Endpoint.all.map(_.toString).toSet + tokens)
    assert(rows.filterNot(_.isCalled).forall(_.cells.head == "no"))
    assert(text.contains(s"iceberg-lite calls ${rows.count(_.isCalled)} of the ${rows.size} endpoints."))
  }

  test("the page lists every endpoint that Apache Iceberg knows") {
    val constants = classOf[PeerEndpoint].getFields.toVector.map(_.get(classOf[PeerEndpoint]))
    val known = constants.collect { case endpoint: PeerEndpoint => endpoint.toString }
    assert(known.size > 25 && known.filterNot(rows.map(_.endpoint).contains).isEmpty)
  }

  test("every endpoint that is called has an existing suite with tests") {
    rows.filter(_.isCalled).foreach { row =>
      assert(row.suites.nonEmpty, row)
      row.suites.foreach { suite =>
        assert(suites.get(suite).exists(_.contains("test(")), s"$suite, which is named for ${row.endpoint}")
      }
    }
  }

  test("the existence of each kind of object is tested with HEAD in a suite that records requests") {
    val heads = rows.filter(_.endpoint.startsWith("HEAD "))
    assert(heads.size == 3 && heads.forall(_.suites.contains("RestProtocolSuite")))
  }

  test("every endpoint that is not called has a reason, and a rejection with a test") {
    rows.filterNot(_.isCalled).foreach { row =>
      assert(row.cells.last.nonEmpty, row)
      row.suites.foreach(suite => assert(suites.contains(suite), row.endpoint))
      if (row.endpoint.endsWith("/sign")) assert(row.suites.nonEmpty, row)
    }
  }
}
