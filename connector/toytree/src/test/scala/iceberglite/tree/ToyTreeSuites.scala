package iceberglite.tree

import iceberglite.catalog.{HostileMetadataSuite, OwnedLocationsSuite}
import iceberglite.inspect.{MetadataTablesSuite, PartitionsTableSuite}
import iceberglite.maintenance.TablePathRewriteSuite
import iceberglite.scan._
import iceberglite.sim.SimulationSuite
import iceberglite.spec.FormatVersion
import iceberglite.table._

// Each of these suites runs the tests of a suite of `core`, with ToyTree as the format of metadata trees.

class ToySimulationSuite extends SimulationSuite {
  override protected def allHistories: Int = 300
}
class ToyTableScanSuite extends TableScanSuite
class ToyDeletePlanSuite extends DeletePlanSuite {
  override protected def allPlans: Int = 75
}
class ToyPruningSuite extends PruningSuite {
  override protected def allPlans: Int = 150
}
class ToyLimitedPlanSuite extends LimitedPlanSuite
class ToyChangelogScanSuite extends ChangelogScanSuite {
  override protected def versionsInFastTier: Set[FormatVersion] = Set(FormatVersion.V3)
}
class ToyIsolationSuite extends IsolationSuite
class ToyRowDeltaSuite extends RowDeltaSuite
class ToyFileActionsSuite extends FileActionsSuite
class ToyHostileMetadataSuite extends HostileMetadataSuite
class ToyOwnedLocationsSuite extends OwnedLocationsSuite
class ToyMetadataTablesSuite extends MetadataTablesSuite
class ToyPartitionsTableSuite extends PartitionsTableSuite
class ToyTablePathRewriteSuite extends TablePathRewriteSuite
