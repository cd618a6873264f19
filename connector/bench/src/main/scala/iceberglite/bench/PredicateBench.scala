package iceberglite.bench

import java.util.concurrent.TimeUnit

import scala.collection.JavaConverters._

import org.apache.iceberg.{DataFile, ManifestFiles}
import org.apache.iceberg.expressions.{Evaluator, Expressions, InclusiveMetricsEvaluator, Projections}
import org.apache.iceberg.inmemory.InMemoryFileIO
import org.openjdk.jmh.annotations._

import iceberglite.spec.expr.{Bind, Evaluate, Expression, Project}
import iceberglite.spec.expr.Expression._
import iceberglite.spec.expr.Term.Named
import iceberglite.spec.file.{InclusiveMetrics, ManifestContent, ManifestEntry, ManifestFile}
import iceberglite.spec.types.Literal._
import iceberglite.tree.manifestlist.Manifests

/**
 * Projects a predicate to the partition spec. Then evaluates the projection on the partition tuple of each of 100,000
 * manifest entries and, if the tuple matches, the predicate on the column bounds. JMH reports the time per entry. Half
 * of the partitions match, and the column bounds of some of their files match.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Array(Mode.AverageTime))
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(3)
class PredicateBench {
  import PredicateBench._

  private var entries: Array[ManifestEntry] = _
  private var peerEntries: Array[DataFile] = _

  @Setup
  def setUp(): Unit = {
    val (written, bytes) = Peer.manifest(Iterator.tabulate(Entries)(Peer.file))
    val (io, peerIo) = (new MemoryIO, new InMemoryFileIO)
    io.write(written.path, bytes)
    peerIo.addFile(written.path, bytes)
    val manifest = ManifestFile(
      written.path,
      bytes.length.toLong,
      0,
      ManifestContent.Data,
      1L,
      1L,
      Peer.snapshotId,
      None,
      None,
      None,
      None,
      None,
      None,
      None
    )
    entries = Manifests.read(io, manifest, Map(0 -> Sample.spec), Sample.schema).toArray
    val reader = ManifestFiles.read(written, peerIo, Map(Int.box(0) -> Peer.spec).asJava)
    peerEntries =
      try reader.iterator.asScala.map(_.copy()).toArray
      finally reader.close()
    require(
      evaluateLite() == evaluatePeer(),
      s"${evaluateLite()} files match in iceberg-lite, ${evaluatePeer()} in Apache Iceberg"
    )
  }

  @Benchmark
  @OperationsPerInvocation(Entries)
  def evaluateLite(): Int = {
    val bound = Bind(filter, Sample.schema, caseSensitive = true)
    val partitions = Evaluate.tuple(Project.inclusive(bound, Sample.spec, Sample.schema), Sample.spec)
    val metrics = new InclusiveMetrics(bound)
    var matching = 0
    var i = 0
    while (i < entries.length) {
      val file = entries(i).file
      if (partitions(file.partition) && metrics.mightMatch(file)) matching += 1
      i += 1
    }
    matching
  }

  @Benchmark
  @OperationsPerInvocation(Entries)
  def evaluatePeer(): Int = {
    val projected = Projections.inclusive(Peer.spec).project(peerFilter)
    val partitions = new Evaluator(Peer.spec.partitionType, projected)
    val metrics = new InclusiveMetricsEvaluator(Peer.schema, peerFilter)
    var matching = 0
    var i = 0
    while (i < peerEntries.length) {
      val file = peerEntries(i)
      if (partitions.eval(file.partition) && metrics.eval(file)) matching += 1
      i += 1
    }
    matching
  }

  private def filter: Expression = and(
    and(
      GreaterThanOrEqual(Named("ts"), TimestampTzLiteral(From)),
      LessThan(Named("ts"), TimestampTzLiteral(Until))
    ),
    and(
      and(GreaterThan(Named("id"), LongLiteral(AboveId)), LessThan(Named("price"), DoubleLiteral(BelowPrice))),
      or(StartsWith(Named("name"), "name-0006"), IsNull(Named("c5")))
    )
  )

  private def peerFilter: org.apache.iceberg.expressions.Expression = Expressions.and(
    Expressions.and(
      Expressions.greaterThanOrEqual("ts", Long.box(From)),
      Expressions.lessThan("ts", Long.box(Until))
    ),
    Expressions.and(
      Expressions.and(
        Expressions.greaterThan("id", Long.box(AboveId)),
        Expressions.lessThan("price", Double.box(BelowPrice))
      ),
      Expressions.or(Expressions.startsWith("name", "name-0006"), Expressions.isNull("c5"))
    )
  )
}

object PredicateBench {
  final val Entries = 100000
  private val From = Sample.micros(Entries / 4)
  private val Until = Sample.micros(Entries / 4 * 3)
  private val AboveId = Sample.rows * (Entries / 3)
  private val BelowPrice = Entries * 2.0 / 3
}
