package iceberglite.peer

import org.apache.iceberg.{MetadataUpdateParser, UpdateRequirementParser}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import iceberglite.conformance.JsonRules
import iceberglite.spec.SampleTables
import iceberglite.spec.json.{
  ChangeGenerators,
  MetadataUpdateJson,
  RequirementJson,
  ViewRequirementJson,
  ViewUpdateJson
}
import iceberglite.spec.metadata.Snapshot
import iceberglite.spec.update.{MetadataUpdate, ViewRequirement}
import iceberglite.spec.update.MetadataUpdate._
import iceberglite.spec.update.ViewUpdate.AddViewVersion

/** Tests that iceberg-lite and Apache Iceberg read each other's JSON of metadata updates and requirements. */
class ChangeJsonPeerSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  private def throughPeer(json: String): String = MetadataUpdateParser.toJson(MetadataUpdateParser.fromJson(json))

  /** Returns whether Apache Iceberg can represent the update and accepts it. */
  private def isCommon(update: MetadataUpdate): Boolean = update match {
    case AddSnapshot(s) => s.manifestList.isDefined && s.summary.contains(Snapshot.OperationKey)
    case SetStatistics(file) => file.keyMetadata.isEmpty
    case AddPartitionSpec(spec) => spec.fields.forall(f => f.sourceIds.size == 1 && f.name.nonEmpty)
    case AddSortOrder(order) => order.fields.forall(_.sourceIds.size == 1)
    case AddEncryptionKey(key) => key.properties.nonEmpty
    case _ => true
  }

  test("table updates have the same meaning in Apache Iceberg", JsonRules.updates) {
    val updates = ChangeGenerators.update.map {
      case AddSchema(schema, last) => AddSchema(CommonSchema.of(schema), last)
      case other => other
    }
    forAll(updates.suchThat(isCommon)) { update =>
      val fromPeer = throughPeer(MetadataUpdateJson.toJson(update))
      assert(MetadataUpdateJson.parse("peer", fromPeer) == update)
    }
  }

  test("view updates have the same meaning in Apache Iceberg", JsonRules.viewUpdates) {
    val updates = ChangeGenerators.viewUpdate.map {
      case AddSchema(schema, last) => AddSchema(CommonSchema.of(schema), last)
      case other => other
    }
    forAll(updates) { update =>
      // Apache Iceberg ignores the fields of a version that only an early form of view metadata has, and does not write
      // them.
      val adopted = update match {
        case AddViewVersion(v) => AddViewVersion(v.copy(parentVersionId = None, properties = Map.empty))
        case other => other
      }
      assert(ViewUpdateJson.parse("peer", throughPeer(ViewUpdateJson.toJson(update))) == adopted)
    }
  }

  test("requirements have the same meaning in Apache Iceberg", JsonRules.requirements) {
    def throughPeer(json: String) = UpdateRequirementParser.toJson(UpdateRequirementParser.fromJson(json))
    forAll(ChangeGenerators.requirement) { requirement =>
      assert(RequirementJson.parse("peer", throughPeer(RequirementJson.toJson(requirement))) == requirement)
    }
    val ofView = ViewRequirement.AssertViewUuid(SampleTables.Uuid)
    assert(ViewRequirementJson.parse("peer", throughPeer(ViewRequirementJson.toJson(ofView))) == ofView)
  }
}
