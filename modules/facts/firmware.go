package facts

import (
	"context"
	"strconv"
	"strings"

	"play/modules/value"
)

// firmware has the names that the manufacturer stored.
func firmware(ctx context.Context, h *Host) *value.Dict {
	const dir = "/sys/devices/virtual/dmi/id/"
	d := value.NewDict()
	if h.exists(dir + "product_name") {
		for _, f := range firmwareFields() {
			text := h.read(dir + f.file)
			if text == "" {
				text = "NA"
			}
			if f.name == "form_factor" {
				text = formFactor(text)
			}
			d.Set(f.name, text)
		}
		return d
	}
	for _, f := range firmwareFields() {
		text := "NA"
		for line := range strings.Lines(h.ask(ctx, "dmidecode", "-s", f.keyword)) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
				text = line
				break
			}
		}
		d.Set(f.name, text)
	}
	return d
}

type firmwareField struct{ name, file, keyword string }

func firmwareFields() []firmwareField {
	return []firmwareField{
		{"bios_date", "bios_date", "bios-release-date"}, {"bios_vendor", "bios_vendor", "bios-vendor"}, {"bios_version", "bios_version", "bios-version"},
		{"board_asset_tag", "board_asset_tag", "baseboard-asset-tag"}, {"board_name", "board_name", "baseboard-product-name"},
		{"board_serial", "board_serial", "baseboard-serial-number"}, {"board_vendor", "board_vendor", "baseboard-manufacturer"},
		{"board_version", "board_version", "baseboard-version"}, {"chassis_asset_tag", "chassis_asset_tag", "chassis-asset-tag"},
		{"chassis_serial", "chassis_serial", "chassis-serial-number"}, {"chassis_vendor", "chassis_vendor", "chassis-manufacturer"},
		{"chassis_version", "chassis_version", "chassis-version"}, {"form_factor", "chassis_type", "chassis-type"},
		{"product_name", "product_name", "system-product-name"}, {"product_serial", "product_serial", "system-serial-number"},
		{"product_uuid", "product_uuid", "system-uuid"}, {"product_version", "product_version", "system-version"},
		{"system_vendor", "sys_vendor", "system-manufacturer"},
	}
}

// formFactor names a chassis type of the SMBIOS specification.
func formFactor(number string) string {
	names := strings.Split("Unknown,Other,Unknown,Desktop,Low Profile Desktop,Pizza Box,Mini Tower,Tower,Portable,Laptop,Notebook,"+
		"Hand Held,Docking Station,All In One,Sub Notebook,Space-saving,Lunch Box,Main Server Chassis,Expansion Chassis,Sub Chassis,"+
		"Bus Expansion Chassis,Peripheral Chassis,RAID Chassis,Rack Mount Chassis,Sealed-case PC,Multi-system,CompactPCI,AdvancedTCA,"+
		"Blade,Blade Enclosure,Tablet,Convertible,Detachable,IoT Gateway,Embedded PC,Mini PC,Stick PC", ",")
	i, err := strconv.Atoi(number)
	if err != nil || i < 0 || i >= len(names) {
		return "unknown (" + number + ")"
	}
	return names[i]
}
