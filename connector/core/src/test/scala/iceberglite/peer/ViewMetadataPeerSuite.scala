package iceberglite.peer

import org.apache.iceberg.view.{ViewMetadata => PeerView, ViewMetadataParser}
import org.apache.iceberg.{MetadataUpdate => PeerUpdate, MetadataUpdateParser}
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import iceberglite.conformance.{JsonRules, MetadataRules}
import iceberglite.spec.SampleTables
import iceberglite.spec.json.{ChangeGenerators, ViewMetadataJson, ViewUpdateJson}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Type.IntType
import iceberglite.spec.update.ViewUpdate
import iceberglite.spec.update.MetadataUpdate._
import iceberglite.spec.update.ViewUpdate._
import iceberglite.spec.view.{ViewMetadata, ViewVersion}
import iceberglite.spec.view.ViewRepresentation.Sql

/** Views that Apache Iceberg reads, writes and changes, compared with this library. */
class ViewMetadataPeerSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  private def ours(view: PeerView): ViewMetadata = ViewMetadataJson.parse("peer", ViewMetadataParser.toJson(view))

  private def theirs(view: ViewMetadata): PeerView = ViewMetadataParser.fromJson(ViewMetadataJson.toJson(view))

  test("both read the same view metadata from each other", JsonRules.views) {
    val shared = ChangeGenerators.view.map(v => v.copy(schemas = v.schemas.map(CommonSchema.of)))
    forAll(shared)(view => assert(ours(theirs(view)) == view))
  }

  private val queries: Gen[ViewUpdate] = Gen.choose(1, 6).map { i =>
    val summary = Map(ViewVersion.OperationKey -> ViewVersion.Replace)
    AddViewVersion(ViewVersion(1, 0, 500L + i, summary, Vector(Sql(s"SELECT $i", "spark")), None, Vector("db")))
  }

  /** Each change adds a current version, sets another version current, or lowers the number of versions to keep. */
  private val changes: Gen[Seq[ViewUpdate]] = Gen.frequency(
    5 -> queries.map(Seq(_, SetCurrentViewVersion(LastAdded))),
    2 -> Gen.choose(1, 6).map(id => Seq(SetCurrentViewVersion(id))),
    1 -> Gen.choose(1, 4).map(n => Seq(SetProperties(Map(ViewMetadata.HistorySizeProperty -> n.toString))))
  )

  private val start: ViewMetadata = ViewUpdate.create(
    Seq(
      AssignUuid(SampleTables.Uuid),
      SetLocation("s3://b/v"),
      AddSchema(Schema(0, Vector(NestedField.optional(1, "n", IntType))), 1),
      AddViewVersion(ViewVersion(
        1,
        0,
        500,
        Map(ViewVersion.OperationKey -> ViewVersion.Replace),
        Vector(Sql("SELECT 0", "spark")),
        None,
        Vector("db")
      )),
      SetCurrentViewVersion(LastAdded)
    ),
    500
  )

  private def applied(view: PeerView, updates: Seq[ViewUpdate]): PeerView = {
    val builder = PeerView.buildFrom(view)
    updates.foreach(u =>
      MetadataUpdateParser.fromJson(ViewUpdateJson.toJson(u)) match {
        case a: PeerUpdate.AddViewVersion => builder.addVersion(a.viewVersion)
        case s: PeerUpdate.SetCurrentViewVersion => builder.setCurrentVersionId(s.versionId)
        case p: PeerUpdate.SetProperties => builder.setProperties(p.updated)
        case other => fail(s"Unexpected $other")
      }
    )
    builder.build()
  }

  test("the same changes give the same versions and log", MetadataRules.viewVersions, MetadataRules.viewHistory) {
    forAll(Gen.listOf(changes)) { sequence =>
      sequence.foldLeft(start) { (view, updates) =>
        // Apache Iceberg does not treat a reused version as the last added one.
        val known = updates.forall {
          case SetCurrentViewVersion(id) => id == LastAdded || view.versionsById.contains(id)
          case _ => true
        }
        val repeated = updates.exists {
          case AddViewVersion(v) => view.versions.exists(_.sameDefinition(v))
          case _ => false
        }
        if (!known || repeated) view
        else {
          val next = ViewUpdate.applyAll(view, updates, 9000)
          val peer = ours(applied(theirs(view), updates))
          assert(next.versions.toSet == peer.versions.toSet)
          assert(next.currentVersionId == peer.currentVersionId)
          assert(next.versionLog.map(_.versionId) == peer.versionLog.map(_.versionId))
          next
        }
      }
      succeed
    }
  }
}
