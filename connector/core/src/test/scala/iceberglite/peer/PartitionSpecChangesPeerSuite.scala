package iceberglite.peer

import scala.util.{Failure, Success, Try}

import org.apache.iceberg.UpdatePartitionSpec
import org.apache.iceberg.expressions.{Expressions => PeerExpressions, Term => PeerTerm}
import org.scalacheck.Gen
import org.scalacheck.rng.Seed
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.conformance.PartitionRules
import iceberglite.spec.{FormatVersion, IcebergError, SampleTables}
import iceberglite.spec.FormatVersion.{V1, V2, V3}
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.partition.{Bucket, Day, Hour, Identity, Month, PartitionSpec, Transform, Truncate, Void, Year}
import iceberglite.spec.update.{MetadataUpdate, PartitionSpecChanges}

/** Compares random changes to the partition spec, one per commit, with Apache Iceberg. */
class PartitionSpecChangesPeerSuite extends AnyFunSuite {
  import PartitionSpecChangesPeerSuite._

  private val columns = Gen.oneOf("id", "ts", "day", "amount", "location.lat", "location", "points.element.x", "none")

  private val transforms: Gen[Transform] =
    Gen.oneOf(Identity, Bucket(4), Bucket(16), Truncate(10), Year, Month, Day, Hour)

  private val names: Gen[String] = Gen.oneOf("a", "b", "ts_day", "id", "id_bucket_4", "id_bucket", "amount")

  private def edit(spec: PartitionSpec): Gen[Edit] = {
    val existingName = Gen.oneOf(spec.fields.map(_.name) :+ "a")
    Gen.frequency[Edit](
      4 -> Gen.zip(columns, transforms, Gen.option(names)).map { case (c, t, n) => Add(c, t, n) },
      2 -> existingName.map(Remove),
      1 -> Gen.zip(columns, transforms).map { case (c, t) => RemoveByTransform(c, t) }
    )
  }

  private def path(column: String): Vector[String] = column.split('.').toVector

  private def term(column: String, transform: Transform): PeerTerm = transform match {
    case Identity => PeerExpressions.ref(column)
    case Bucket(n) => PeerExpressions.bucket(column, n)
    case Truncate(w) => PeerExpressions.truncate(column, w)
    case Year => PeerExpressions.year(column)
    case Month => PeerExpressions.month(column)
    case Day => PeerExpressions.day(column)
    case Hour => PeerExpressions.hour(column)
    case other => PeerExpressions.transform(column, org.apache.iceberg.transforms.Transforms.fromString(other.name))
  }

  private def editWithLite(update: PartitionSpecChanges, edit: Edit): PartitionSpecChanges = edit match {
    case Add(c, t, name) => update.addField(path(c), t, name)
    case Remove(name) => update.removeField(name)
    case RemoveByTransform(c, t) => update.removeField(path(c), t)
  }

  private def editWithPeer(update: UpdatePartitionSpec, edit: Edit): UpdatePartitionSpec = edit match {
    case Add(c, t, None) => update.addField(term(c, t))
    case Add(c, t, Some(name)) => update.addField(name, term(c, t))
    case Remove(name) => update.removeField(name)
    case RemoveByTransform(c, t) => update.removeField(term(c, t))
  }

  private def compare(m: TableMetadata, edit: Edit): TableMetadata = withClue(s"$edit of ${m.spec} (${m.specs}): ") {
    val mine = Try(MetadataUpdate.applyAll(m, editWithLite(PartitionSpecChanges(m), edit).updates, m.lastUpdatedMs))
    val peers = Try {
      val peer = new PeerTable(m)
      editWithPeer(peer.table.updateSpec(), edit).commit()
      peer.committed
    }
    (mine, peers) match {
      case (Success(a), Success(b)) =>
        assert(a.spec == b.spec)
        assert(a.specs == b.specs && a.lastPartitionId == b.lastPartitionId)
        a
      case (Failure(_: IcebergError), Failure(_)) => m
      case (Failure(_: IcebergError), Success(_)) if isAcceptedByPeer(m, edit) => m
      case (a, b) => fail(s"this library: ${a.map(_.spec)}, Apache Iceberg: ${b.map(_.spec)}")
    }
  }

  /**
   * Returns whether only Apache Iceberg accepts the change. There are two cases:
   *   - A partition field that is not an identity gets the name of a column. Both libraries reject this when a table is
   *     created.
   *   - A partition field with the transform `void` is removed. The change has no effect in Apache Iceberg.
   */
  private def isAcceptedByPeer(m: TableMetadata, edit: Edit): Boolean = edit match {
    case Add(_, transform, Some(name)) => transform != Identity && m.schema.find(name).isDefined
    case Remove(name) => m.spec.fields.exists(f => f.name == name && f.transform == Void)
    case _ => false
  }

  private def sequence(version: FormatVersion): Unit = (1L to 80L).foreach { seed =>
    val start = (SampleTables.empty(version, SampleTables.byDay), Seed(seed))
    (1 to 10).foldLeft(start) { case ((m, random), _) =>
      (compare(m, edit(m.spec).pureApply(Gen.Parameters.default, random)), random.slide)
    }
  }

  Seq(V1, V2, V3).foreach { version =>
    test(
      s"random changes to the partitioning of a version $version table give the same result as in Apache Iceberg",
      PartitionRules.sameAsApacheIceberg
    ) {
      sequence(version)
    }
  }
}

object PartitionSpecChangesPeerSuite {
  sealed private trait Edit
  final private case class Add(column: String, transform: Transform, name: Option[String]) extends Edit
  final private case class Remove(name: String) extends Edit
  final private case class RemoveByTransform(column: String, transform: Transform) extends Edit
}
