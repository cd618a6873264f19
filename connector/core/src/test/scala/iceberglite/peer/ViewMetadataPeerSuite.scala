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

/** Compares how iceberg-lite and Apache Iceberg read, write and update view metadata. */
class ViewMetadataPeerSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  private def fromPeer(view: PeerView): ViewMetadata = ViewMetadataJson.parse("peer", ViewMetadataParser.toJson(view))

  private def toPeer(view: ViewMetadata): PeerView = ViewMetadataParser.fromJson(ViewMetadataJson.toJson(view))

  /**
   * Returns the view without the fields of versions that only an early form of view metadata has. Apache Iceberg
   * ignores these fields, and does not write them.
   */
  private def adopted(view: ViewMetadata): ViewMetadata =
    view.copy(versions = view.versions.map(_.copy(parentVersionId = None, properties = Map.empty)))

  test("this library and Apache Iceberg read the same view metadata from each other's JSON", JsonRules.views) {
    val shared = ChangeGenerators.view.map(v => v.copy(schemas = v.schemas.map(CommonSchema.of)))
    forAll(shared)(view => assert(fromPeer(toPeer(view)) == adopted(view)))
  }

  private val newVersion: Gen[ViewUpdate] = Gen.choose(1, 6).map { i =>
    val summary = Map(ViewVersion.OperationKey -> ViewVersion.Replace)
    AddViewVersion(ViewVersion(1, 0, 500L + i, summary, Vector(Sql(s"SELECT $i", "spark")), None, Vector("db")))
  }

  /**
   * Generates a change to a view: it adds a version and makes it current, makes another version current, or lowers the
   * number of versions to keep.
   */
  private val changes: Gen[Seq[ViewUpdate]] = Gen.frequency(
    5 -> newVersion.map(Seq(_, SetCurrentViewVersion(LastAdded))),
    2 -> Gen.choose(1, 6).map(id => Seq(SetCurrentViewVersion(id))),
    1 -> Gen.choose(1, 4).map(n => Seq(SetProperties(Map(ViewMetadata.HistorySizeProperty -> n.toString))))
  )

  private val initialView: ViewMetadata = ViewUpdate.create(
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

  private def applyWithPeer(view: PeerView, updates: Seq[ViewUpdate]): PeerView = {
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

  test(
    "both libraries derive the same versions and version log from the same changes",
    MetadataRules.viewVersions,
    MetadataRules.viewHistory
  ) {
    forAll(Gen.listOf(changes)) { sequence =>
      sequence.foldLeft(initialView) { (view, updates) =>
        // Changes that add a version equal to an existing one are skipped: Apache Iceberg reuses the existing version,
        // but does not treat it as the last added version.
        val versionsExist = updates.forall {
          case SetCurrentViewVersion(id) => id == LastAdded || view.versionsById.contains(id)
          case _ => true
        }
        val reusesVersion = updates.exists {
          case AddViewVersion(v) => view.versions.exists(_.sameDefinition(v))
          case _ => false
        }
        if (!versionsExist || reusesVersion) view
        else {
          val next = ViewUpdate.applyAll(view, updates, 9000)
          val peer = fromPeer(applyWithPeer(toPeer(view), updates))
          assert(adopted(next).versions.toSet == peer.versions.toSet)
          assert(next.currentVersionId == peer.currentVersionId)
          assert(next.versionLog.map(_.versionId) == peer.versionLog.map(_.versionId))
          next
        }
      }
      succeed
    }
  }
}
